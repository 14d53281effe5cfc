package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class StorageTypeTest {

    private static float read(StorageType type, int bits) {
        ByteBuffer bytes = ByteBuffer.allocate(2).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putShort((short) bits).flip();
        FloatBuffer value = FloatBuffer.allocate(1);
        type.read(bytes, value);
        return value.get(0);
    }

    private static int write(StorageType type, float value) {
        ByteBuffer bytes = ByteBuffer.allocate(2).order(ByteOrder.LITTLE_ENDIAN);
        type.write(FloatBuffer.wrap(new float[] {value}), bytes);
        return bytes.getShort(0) & 0xffff;
    }

    @ParameterizedTest
    @EnumSource(names = {"BF16", "F16"})
    void everyFinitePatternComesBack(StorageType type) {
        int finite = 0;
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = read(type, bits);
            if (Float.isFinite(value)) {
                assertThat(write(type, value)).isEqualTo(bits);
                finite++;
            }
        }
        assertThat(finite).isGreaterThan(63_000);
    }

    @ParameterizedTest
    @CsvSource({
        "3c00, 1.0",
        "c000, -2.0",
        "7bff, 65504.0",
        "0001, 5.9604645E-8",
        "0400, 6.1035156E-5",
        "03ff, 6.097555E-5",
        "3555, 0.33325195",
        "7c00, Infinity",
        "fc00, -Infinity",
        "7e00, NaN"
    })
    void halfPrecisionIsThatOfIeee754(String bits, float value) {
        assertThat(read(StorageType.F16, Integer.parseInt(bits, 16))).isEqualTo(Float.valueOf(value));
    }

    @Test
    void halfwayValuesRoundToEven() {
        assertThat(write(StorageType.F16, 1 + 0x1p-11f)).isEqualTo(0x3c00);
        assertThat(write(StorageType.F16, 1 + 3 * 0x1p-11f)).isEqualTo(0x3c02);
        assertThat(write(StorageType.F16, 0x1p-25f)).isEqualTo(0); // half of the smallest
        assertThat(write(StorageType.F16, 3 * 0x1p-25f)).isEqualTo(2);
        assertThat(write(StorageType.BF16, 1 + 0x1p-8f)).isEqualTo(0x3f80);
        assertThat(write(StorageType.BF16, 1 + 3 * 0x1p-8f)).isEqualTo(0x3f82);
    }

    @Test
    void whatHalfPrecisionCannotHoldIsRefused() {
        assertThat(write(StorageType.F16, 65519)).isEqualTo(0x7bff);
        assertThatThrownBy(() -> write(StorageType.F16, 65520))
                .isInstanceOf(ArithmeticException.class)
                .hasMessageStartingWith("Cannot store 65520.0 as F16");
    }
}
