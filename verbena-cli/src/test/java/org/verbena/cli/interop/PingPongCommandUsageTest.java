// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.cli.Main;
import org.verbena.cli.support.ExitCode;

/** Command lines of {@code verbena pingpong} and {@code verbena rping}. */
class PingPongCommandUsageTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "pingpong --type=xrc             | --type 'xrc' is none of rc, uc, ud, srq",
        "pingpong -s 0                   | a size must be 1 byte to 1g, not '0'",
        "pingpong -n 0                   | --iterations 0: must be 1",
        "pingpong -r 0                   | --rx-depth 0: must be 1",
        "pingpong -p 65536               | --port 65536: must be 0 to 65535",
        "pingpong -p 0 localhost         | --port 0: must be 1 to 65535",
        "pingpong -i 0                   | --ib-port 0: must be 1",
        "pingpong -m 1500                | --mtu 1500: must be 256, 512, 1024, 2048 or 4096",
        "pingpong -m 1024 -t ud          | --mtu is not for --type ud",
        "pingpong -q 2                   | --num-qp is for --type srq",
        "pingpong -t srq -q 256          | --num-qp 256: must be 1 to 255",
        "pingpong -t srq -q 9 -r 8       | --rx-depth 8 is too small: each of 9 queue pairs",
        "pingpong -l 16                  | --sl 16: must be 0 to 15",
        "pingpong -g -1                  | --gid-index -1: must be 0",
        "pingpong --timeout 0            | --timeout 0: must be 1",
        "pingpong one two                | the argument 'two' is one too many",
        "rping                           | (-s | -c)",
        "rping -s -c                     | mutually exclusive",
        "rping -c                        | --client needs the server's address: -a HOST",
        "rping -c -P -a localhost        | --persistent belongs to --server",
        "rping -s -S 25                  | --size 25: must be 26 to 65535",
        "rping -s -S 64k                 | --size 65536: must be 26 to 65535",
        "rping -c -a localhost -p 0      | --port 0: must be 1 to 65535",
        "rping -s -C -1                  | --count -1: must be 0",
        "rping -s -v --json              | --verbose and --json exclude each other",
    })
    void wrongUsageIsReported(String arguments, String sentence) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
                .execute(arguments.strip().split(" "));
        assertThat(code).as(err.toString()).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(sentence).contains("--help'.");
        assertThat(out.toString()).isEmpty();
    }
}
