/** A bridge into DJL's PyTorch binding: the one class that must share DJL's package to run a script with gradients on. */
package ai.djl.pytorch.jni;
