/**
 * The stages of an iteration. Read them in this order: {@link io.bellows.stage.RolloutStage}, {@link
 * io.bellows.stage.ScoreStage}, {@link io.bellows.stage.LogProbStage}, {@link io.bellows.stage.AdvantageStage}, {@link
 * io.bellows.stage.UpdateStage}.
 */
package io.bellows.stage;
