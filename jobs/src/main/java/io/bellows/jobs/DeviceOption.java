package io.bellows.jobs;

import ai.djl.Device;
import ai.djl.engine.Engine;
import picocli.CommandLine.Option;

/** {@code --device}: where a model lives. */
final class DeviceOption {

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "cpu, gpu or gpu:1 (default: the first GPU that libtorch sees, else the CPU).")
    private String name;

    Device device() {
        int gpus = Engine.getEngine("PyTorch").getGpuCount();
        if (name == null) {
            return gpus > 0 ? Device.gpu(0) : Device.cpu();
        }
        Device device = parse();
        if (device.isGpu() && device.getDeviceId() >= gpus) {
            throw new UsageException(
                    "Cannot use " + name + ": libtorch sees " + gpus + " GPUs; bellows doctor says more");
        }
        return device;
    }

    private Device parse() {
        try {
            return name.equals("gpu") ? Device.gpu(0) : Device.fromName(name);
        } catch (IllegalArgumentException e) {
            throw new UsageException("Invalid --device " + name + ": expected cpu, gpu or gpu:1");
        }
    }
}
