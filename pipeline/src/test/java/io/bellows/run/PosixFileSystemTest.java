package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Does what Hadoop's own local file system does, on the same files. */
class PosixFileSystemTest {

    @TempDir
    private Path folder;

    private FileSystem ours;
    private FileSystem hadoops;

    @BeforeEach
    void open() throws IOException {
        Configuration configuration = new Configuration();
        hadoops = FileSystem.newInstance(URI.create("file:///"), configuration);
        configuration.set(PosixFileSystem.SETTING.substring("spark.hadoop.".length()), PosixFileSystem.class.getName());
        ours = FileSystem.newInstance(URI.create("file:///"), configuration);
        assertThat(ours).isInstanceOf(PosixFileSystem.class);
    }

    @AfterEach
    void close() throws IOException {
        ours.close();
        hadoops.close();
    }

    private org.apache.hadoop.fs.Path path(String name) {
        return new org.apache.hadoop.fs.Path(folder.resolve(name).toUri());
    }

    private void write(FileSystem fileSystem, String name) throws IOException {
        try (OutputStream out = fileSystem.create(path(name))) {
            out.write(new byte[] {1, 2, 3});
        }
    }

    private static List<Object> facts(FileStatus status) {
        return List.of(
                status.getPath(),
                status.isDirectory(),
                status.isFile(),
                status.getLen(),
                status.getModificationTime(),
                status.getPermission().toShort(),
                status.getOwner(),
                status.getGroup(),
                status.getBlockSize(),
                status.getReplication());
    }

    @Test
    void theStatusOfFilesAndFoldersIsHadoops() throws IOException {
        Files.writeString(folder.resolve("file with a space"), "text");
        Files.createDirectory(
                folder.resolve("folder"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx-w---x")));
        Files.createSymbolicLink(folder.resolve("link"), folder.resolve("file with a space"));
        Files.setLastModifiedTime(folder.resolve("file with a space"), FileTime.fromMillis(1_234_567_891_011L));
        for (String name : List.of("file with a space", "folder", "link")) {
            assertThat(facts(ours.getFileStatus(path(name)))).isEqualTo(facts(hadoops.getFileStatus(path(name))));
        }
        assertThat(facts(ours.listStatus(path("link"))[0])).isEqualTo(facts(hadoops.listStatus(path("link"))[0]));
        assertThat(Arrays.stream(ours.listStatus(path("")))
                        .map(PosixFileSystemTest::facts)
                        .toList())
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(hadoops.listStatus(path("")))
                        .map(PosixFileSystemTest::facts)
                        .toList());
    }

    @Test
    void aFileThatIsNotThereIsNotFound() {
        assertThat(List.of(ours, hadoops)).allSatisfy(fileSystem -> {
            assertThat(fileSystem.exists(path("missing"))).isFalse();
            assertThatThrownBy(() -> fileSystem.getFileStatus(path("missing")))
                    .isInstanceOf(FileNotFoundException.class)
                    .hasMessageContaining("missing");
            assertThatThrownBy(() -> fileSystem.listStatus(path("missing"))).isInstanceOf(FileNotFoundException.class);
        });
        assertThatThrownBy(() -> ours.setPermission(path("missing"), FsPermission.getFileDefault()))
                .isInstanceOf(FileNotFoundException.class);
    }

    @Test
    void filesAndFoldersAreCreatedWithTheSamePermissions() throws IOException {
        write(ours, "ours/file");
        write(hadoops, "hadoops/file");
        assertThat(Files.getPosixFilePermissions(folder.resolve("ours/file")))
                .isEqualTo(Files.getPosixFilePermissions(folder.resolve("hadoops/file")));
        assertThat(Files.getPosixFilePermissions(folder.resolve("ours")))
                .isEqualTo(Files.getPosixFilePermissions(folder.resolve("hadoops")));
    }

    @Test
    void permissionsAreSetAsChmodSetsThem() throws IOException {
        for (FileSystem fileSystem : List.of(ours, hadoops)) {
            Path made = Files.createTempDirectory(folder, "set");
            Files.setAttribute(made, "unix:mode", 02775); // what is created in it belongs to its group
            fileSystem.setPermission(new org.apache.hadoop.fs.Path(made.toUri()), new FsPermission((short) 01750));
            assertThat((Integer) Files.getAttribute(made, "unix:mode") & 07777).isEqualTo(03750);
            Path file = Files.createFile(made.resolve("file"));
            fileSystem.setPermission(new org.apache.hadoop.fs.Path(file.toUri()), new FsPermission((short) 0640));
            assertThat((Integer) Files.getAttribute(file, "unix:mode") & 07777).isEqualTo(0640);
        }
    }

    @Test
    void thereAreNoChecksumFilesAndThoseOfOthersAreNoData() throws IOException {
        write(ours, "table/part");
        assertThat(folder.resolve("table"))
                .isDirectoryContaining("glob:**/part")
                .isDirectoryNotContaining("glob:**/.*");
        write(hadoops, "table/other");
        assertThat(folder.resolve("table/.other.crc")).exists();
        RemoteIterator<LocatedFileStatus> files = ours.listFiles(path("table"), true);
        int found = 0;
        for (; files.hasNext(); found++) {
            LocatedFileStatus file = files.next();
            assertThat(facts(file)).isEqualTo(facts(hadoops.getFileStatus(file.getPath())));
        }
        assertThat(found).isEqualTo(2);
        assertThat(ours.open(path("table/other")).readAllBytes()).containsExactly(1, 2, 3);
    }

    @Test
    void aFolderIsRenamedAndDeletedWithWhatIsInIt() throws IOException {
        write(ours, "before/file");
        assertThat(ours.rename(path("before"), path("after"))).isTrue();
        assertThat(folder.resolve("before")).doesNotExist();
        assertThat(folder.resolve("after/file")).hasBinaryContent(new byte[] {1, 2, 3});
        assertThat(ours.delete(path("after"), true)).isTrue();
        assertThat(folder.resolve("after")).doesNotExist();
    }
}
