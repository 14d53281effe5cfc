package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Packs TorchScript source into the archive that libtorch loads, without Python.
 *
 * <p>The archive holds one module, {@code __torch__.Kernels}, that has no parameters: weights and caches are arguments of
 * its methods.
 */
final class ScriptArchive {

    private static final String ROOT = "k/";

    private ScriptArchive() {}

    /**
     * Returns the archive as bytes.
     *
     * @param source TorchScript text that defines {@code class Kernels(Module)}
     */
    static byte[] pack(String source) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            store(zip, "data.pkl", emptyModule());
            store(zip, "code/__torch__.py", source.getBytes(UTF_8));
            store(zip, "constants.pkl", new byte[] {(byte) 0x80, 2, ')', '.'}); // the empty tuple
            store(zip, "version", "10\n".getBytes(UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot pack the decoder source in memory", e);
        }
        return bytes.toByteArray();
    }

    /** A protocol-2 pickle of {@code Kernels} with the state {@code {"training": False}}. */
    private static byte[] emptyModule() {
        ByteArrayOutputStream pickle = new ByteArrayOutputStream();
        pickle.writeBytes(new byte[] {(byte) 0x80, 2}); // PROTO 2
        pickle.writeBytes("c__torch__\nKernels\n".getBytes(UTF_8)); // GLOBAL
        pickle.writeBytes(new byte[] {')', (byte) 0x81, '}', '('}); // EMPTY_TUPLE NEWOBJ EMPTY_DICT MARK
        pickle.writeBytes(new byte[] {'X', 8, 0, 0, 0}); // BINUNICODE, length 8
        pickle.writeBytes("training".getBytes(UTF_8));
        pickle.writeBytes(new byte[] {(byte) 0x89, 'u', 'b', '.'}); // NEWFALSE SETITEMS BUILD STOP
        return pickle.toByteArray();
    }

    /** libtorch maps the entries, so they must be stored uncompressed. */
    private static void store(ZipOutputStream zip, String name, byte[] content) throws IOException {
        CRC32 checksum = new CRC32();
        checksum.update(content);
        ZipEntry entry = new ZipEntry(ROOT + name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(content.length);
        entry.setCrc(checksum.getValue());
        zip.putNextEntry(entry);
        zip.write(content);
        zip.closeEntry();
    }
}
