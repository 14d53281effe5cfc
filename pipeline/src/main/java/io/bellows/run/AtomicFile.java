package io.bellows.run;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;

/**
 * Files that appear whole. A plain {@code create(overwrite=false)} does not: on a local disk it looks first and opens then,
 * and shows the file before its content.
 */
final class AtomicFile {

    private AtomicFile() {}

    /** Creates {@code file} unless it exists, atomically; returns whether this call created it. */
    static boolean create(FileSystem fileSystem, Configuration hadoop, Path file, byte[] content) throws IOException {
        return switch (fileSystem.getScheme()) {
            case "file" -> createLocal(local(file), content);
            case "s3a" -> createConditionally(fileSystem, file, content);
            default -> createByRename(fileSystem, hadoop, file, content);
        };
    }

    /** Replaces or creates {@code file}; readers see the old content or the new. */
    static void replace(FileSystem fileSystem, Path file, byte[] content) throws IOException {
        if (!fileSystem.getScheme().equals("file")) {
            write(fileSystem.create(file, true), content);
            return;
        }
        java.nio.file.Path target = local(file);
        java.nio.file.Path temporary = temporary(target);
        try {
            writeAndSync(temporary, content);
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(temporary); // there only after a failure, such as a full disk
        }
    }

    private static boolean createLocal(java.nio.file.Path target, byte[] content) throws IOException {
        java.nio.file.Path temporary = temporary(target);
        try {
            writeAndSync(temporary, content);
            // A hard link fails when the name is taken; a rename would replace what is there.
            Files.createLink(target, temporary);
            syncFolder(target.getParent());
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static boolean createConditionally(FileSystem fileSystem, Path file, byte[] content) throws IOException {
        try {
            FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(file);
            builder.overwrite(true);
            builder.must("fs.option.create.conditional.overwrite", true);
            write(builder.build(), content);
            return true;
        } catch (IOException e) {
            // The store answers 412 in several wrappings; what counts is whether somebody's file is there.
            if (fileSystem.exists(file)) {
                return false;
            }
            throw e;
        }
    }

    private static boolean createByRename(FileSystem fileSystem, Configuration hadoop, Path file, byte[] content)
            throws IOException {
        Path temporary = new Path(file.getParent(), "." + file.getName() + "." + UUID.randomUUID());
        write(fileSystem.create(temporary, false), content);
        try {
            FileContext.getFileContext(fileSystem.getUri(), hadoop).rename(temporary, file, Options.Rename.NONE);
            return true;
        } catch (org.apache.hadoop.fs.FileAlreadyExistsException e) {
            return false;
        } finally {
            fileSystem.delete(temporary, false);
        }
    }

    private static void write(FSDataOutputStream stream, byte[] content) throws IOException {
        try (stream) {
            stream.write(content);
            stream.hsync();
        }
    }

    private static void writeAndSync(java.nio.file.Path file, byte[] content) throws IOException {
        try (FileChannel channel = FileChannel.open(file, CREATE_NEW, WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(true);
        }
    }

    private static void syncFolder(java.nio.file.Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, READ)) {
            channel.force(true);
        }
    }

    private static java.nio.file.Path temporary(java.nio.file.Path target) {
        return target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID());
    }

    private static java.nio.file.Path local(Path file) {
        return java.nio.file.Path.of(file.toUri().getPath());
    }
}
