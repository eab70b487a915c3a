// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The file that comes with libvma, fetched once from libvma's repository: no release of Debian's has a package of it. Where it
 * cannot be fetched a line reports that.
 */
class LibvmaFileTest {
    /** The file has been the same since 2016. */
    private static final URI THERE = URI.create("https://raw.githubusercontent.com/Mellanox/libvma/"
            + "d48665e5285b24bbd6bb5b2e553f40fb77b30215/src/vma/util/libvma.conf");
    private static final String SHA256 = "24eb49b6e2f62ecf05377c5dae99a3cb32b53df989e52f93c357f8aaceee36b7";
    private static final Path HERE = Path.of("target", "libvma", "libvma.conf").toAbsolutePath();
    private static final int LONGEST_MILLIS = 10_000;

    /** A statement in a comment, without those that describe the grammar. */
    private static final Pattern EXAMPLE = Pattern.compile("(?m)^#\\s*((?:application-id|use|log)\\s[^<\\[\n]*)$");
    /** How a comment describes the third kind of statement, of which it has no example. */
    private static final String LOG = "log [destination stderr|syslog|file <filename>] [min-level <1-9>]";

    @TempDir private Path dir;

    private static String text;

    @BeforeAll
    static void fetch() throws Exception {
        if (!Files.exists(HERE)) {
            Files.createDirectories(HERE.getParent());
            URLConnection connection = THERE.toURL().openConnection();
            connection.setConnectTimeout(LONGEST_MILLIS);
            connection.setReadTimeout(LONGEST_MILLIS);
            try (InputStream in = connection.getInputStream()) {
                Files.write(HERE, in.readAllBytes());
            } catch (IOException e) {
                assumeTrue(false, () -> unavailable(e.toString()));
            }
        }
        byte[] bytes = Files.readAllBytes(HERE);
        assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
                .as("SHA-256 of %s, which is not the file that is meant: delete it", HERE).isEqualTo(SHA256);
        text = new String(bytes, StandardCharsets.UTF_8);
    }

    private static String unavailable(String why) {
        String line = "LibvmaFileTest: skipped, " + THERE.getHost() + " cannot be asked for libvma.conf: " + why;
        System.out.println(line);
        return line;
    }

    private List<Block> read(String text) throws IOException {
        return RulesFile.read(Files.writeString(dir.resolve("libvma.conf"), text));
    }

    private static String words(Block b) {
        return b.place().text().replaceAll("\\s+", " ");
    }

    @Test
    void shippedFileIsParsed() throws Exception {
        assertThat(RulesFile.read(HERE)).singleElement().satisfies(b -> {
            assertThat(words(b)).isEqualTo("application-id * *");
            assertThat(b.rules()).singleElement().satisfies(r -> assertThat(List.of(r.transport(), r.role()))
                    .containsExactly(Transport.OS, Role.UDP_CONNECT));
        });
    }

    @Test
    void commentedExamplesAreParsed() throws Exception {
        assertThat(EXAMPLE.matcher(text).results()).hasSize(3);
        List<Block> blocks = read(EXAMPLE.matcher(text).replaceAll("$1"));
        assertThat(blocks).extracting(LibvmaFileTest::words).containsExactly("application-id * *",
                "application-id tcp_lat B1");
        assertThat(blocks.get(0).rules()).hasSize(1);
        assertThat(blocks.get(1).rules()).extracting(Rule::transport).containsExactly(Transport.STACK, Transport.OS);
        assertThat(blocks.get(1).rules()).extracting(Rule::role).containsExactly(Role.TCP_CLIENT, Role.TCP_SERVER);
    }

    @Test
    void logSettingsAreParsed() throws Exception {
        assertThat(text).contains("# " + LOG);
        for (String destination : List.of("", " destination stderr", " destination syslog", " destination file name")) {
            for (int level = 0; level <= 9; level++) {
                String line = "log" + destination + (level == 0 ? "" : " min-level " + level);
                if (!line.equals("log")) {
                    assertThat(catchThrowable(() -> read(text + line + "\n"))).as(line).isNull();
                }
            }
        }
    }
}
