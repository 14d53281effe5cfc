package io.bellows.training;

import io.bellows.model.Decoder;
import io.bellows.model.Gradients;
import io.bellows.model.Weights;

/**
 * A model under training.
 *
 * @param decoder runs it
 * @param weights updated in place
 * @param gradients the weights' gradients, zero between steps
 */
public record TrainedModel(Decoder decoder, Weights weights, Gradients gradients) {}
