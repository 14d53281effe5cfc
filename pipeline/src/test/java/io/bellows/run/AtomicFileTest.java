package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AtomicFileTest {

    @TempDir
    java.nio.file.Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"file", FaultyFileSystem.SCHEME})
    void theFirstWriterWinsAndTheOthersLeaveNothing(String scheme) throws Exception {
        Configuration hadoop = FaultyFileSystem.register(new Configuration());
        Path file = new Path(scheme + ":" + folder + "/manifest.json");
        List<Boolean> created = ManyWriters.create(file.getFileSystem(hadoop), hadoop, file, 16);

        assertThat(created).containsOnlyOnce(true);
        assertThat(folder.resolve("manifest.json")).hasContent(ManyWriters.content(created.indexOf(true)));
        assertThat(names()).containsExactly("manifest.json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", FaultyFileSystem.SCHEME})
    void replacingNeverLeavesTwoFiles(String scheme) throws IOException {
        Configuration hadoop = FaultyFileSystem.register(new Configuration());
        Path file = new Path(scheme + ":" + folder + "/lease.json");
        AtomicFile.replace(file.getFileSystem(hadoop), file, "first".getBytes(StandardCharsets.UTF_8));
        AtomicFile.replace(file.getFileSystem(hadoop), file, "2".getBytes(StandardCharsets.UTF_8));

        assertThat(folder.resolve("lease.json")).hasContent("2");
        assertThat(names()).containsExactly("lease.json");
    }

    @Test
    void aReplacementThatFailsLeavesNothingBehind() throws IOException {
        Files.createDirectories(folder.resolve("lease.json/occupied"));
        Path file = new Path("file:" + folder + "/lease.json");
        FileSystem fileSystem = file.getFileSystem(new Configuration());

        assertThatThrownBy(() -> AtomicFile.replace(fileSystem, file, new byte[] {1}))
                .isInstanceOf(IOException.class);
        assertThat(names()).containsExactly("lease.json");
    }

    private List<String> names() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }
}
