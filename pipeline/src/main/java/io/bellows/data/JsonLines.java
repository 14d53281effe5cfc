package io.bellows.data;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.util.LineReader;

/** Physical lines of a file, plain or compressed, in order; empty lines at the end are no lines. */
final class JsonLines implements Iterator<JsonLines.Line>, Closeable {

    private static final int MAX_LINE_BYTES = 64 << 20;
    private static final byte[] NEWLINE = {'\n'};

    /**
     * One line.
     *
     * @param row its number from 0
     * @param text what it holds; null when there is a problem
     * @param problem why it cannot be read, or null
     */
    record Line(long row, String text, String problem) {}

    private final String path;
    private final LineReader reader;
    private final Text buffer = new Text();
    private Line held;
    private long next;
    private long row;

    private JsonLines(String path, InputStream in) {
        this.path = path;
        this.reader = new LineReader(in, 1 << 16, NEWLINE);
    }

    static JsonLines open(String path, Configuration hadoop) throws IOException {
        Path file = new Path(path);
        InputStream in = file.getFileSystem(hadoop).open(file);
        CompressionCodec codec = new CompressionCodecFactory(hadoop).getCodec(file);
        return new JsonLines(path, codec == null ? in : codec.createInputStream(in));
    }

    @Override
    public boolean hasNext() {
        while (held == null) {
            Line line = read();
            if (line == null) {
                return false;
            }
            // Empty lines wait until a line follows them: at the end of a file they mean nothing.
            held = line.text() == null || !line.text().isBlank() ? line : null;
        }
        return true;
    }

    @Override
    public Line next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        if (next < held.row()) {
            return new Line(next++, "", null);
        }
        Line line = held;
        next++;
        held = null;
        return line;
    }

    private Line read() {
        try {
            int consumed = reader.readLine(buffer, MAX_LINE_BYTES);
            if (consumed == 0) {
                return null;
            }
            long number = row++;
            if (consumed > buffer.getLength() + 1) {
                return new Line(number, null, "the line is longer than " + MAX_LINE_BYTES + " bytes");
            }
            return new Line(number, withoutByteOrderMark(number, decoded()), null);
        } catch (CharacterCodingException e) {
            return new Line(row - 1, null, "the line is not UTF-8");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + path + " after line " + row, e);
        }
    }

    private String decoded() throws CharacterCodingException {
        ByteBuffer bytes = ByteBuffer.wrap(buffer.getBytes(), 0, buffer.getLength());
        return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    }

    private static String withoutByteOrderMark(long number, String line) {
        return number == 0 && line.startsWith("\uFEFF") ? line.substring(1) : line;
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
