// SPDX-License-Identifier: Apache-2.0
package org.verbena.bench.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import javax.imageio.ImageIO;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlotsTest {
    private static final List<String> NAMES = List.of("latency", "bandwidth", "applications", "load");
    private static final List<String> FIGURES = List.of("compare", "channels", "applications", "load");

    @TempDir Path folder;

    /** The colours that a drawing has: a line that is not drawn leaves its colour out. */
    private static Set<Integer> colours(Path file) throws IOException {
        BufferedImage image = ImageIO.read(file.toFile());
        Set<Integer> found = new HashSet<>();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                found.add(image.getRGB(x, y) & 0xffffff);
            }
        }
        return found;
    }

    private void figures(String name) throws IOException {
        try (InputStream in = PlotsTest.class.getResourceAsStream("/plots/" + name + ".json")) {
            Files.copy(Objects.requireNonNull(in, name), folder.resolve(name + ".json"));
        }
    }

    @Test
    void whatWasMeasuredIsDrawn() throws Exception {
        for (String name : FIGURES) {
            figures(name);
        }
        Plots.main(new String[] {folder.toString()});
        for (String name : NAMES) {
            assertThat(colours(folder.resolve(name + ".png"))).as(name).contains(0xffffff, 0x0072b2);
        }
        assertThat(colours(folder.resolve("latency.png"))).contains(0x009e73, 0xe69f00, 0x56b4e9, 0xd55e00);
        for (String name : List.of("bandwidth", "load")) {
            assertThat(colours(folder.resolve(name + ".png"))).as(name).contains(0x009e73);
        }
    }

    @Test
    void onlyWhatWasMeasuredIsDrawn() throws Exception {
        figures("load");
        Plots.main(new String[] {folder.toString()});
        assertThat(folder.resolve("load.png")).exists();
        assertThat(folder.resolve("latency.png")).doesNotExist();
    }

    @Test
    void nothingMeasuredIsAnError() {
        assertThatThrownBy(() -> Plots.main(new String[] {folder.toString()})).isInstanceOf(IOException.class)
                .hasMessageContaining("compare.json").hasMessageContaining("bench/plots --measure");
    }

    @Test
    void garbageNamesTheFile() throws Exception {
        Files.writeString(folder.resolve("channels.json"), "{ not JSON");
        assertThatThrownBy(() -> Plots.main(new String[] {folder.toString()})).isInstanceOf(IOException.class)
                .hasMessageContaining("channels.json");
    }
}
