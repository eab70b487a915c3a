// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.verbena.cli.Main;
import org.verbena.cli.support.ExitCode;
import org.verbena.cli.support.Units;

/** Command lines of {@code verbena perf}. */
class PerfCommandUsageTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "nonsense                            | unknown test 'nonsense': the tests are limit-cacheline",
        "send-lt                             | unknown test 'send-lt': did you mean 'send-lat'?",
        "atomic-lat -s 64                    | --size is not for atomic-lat, which is measured with 8 bytes",
        "limit-cacheline atomic-lat -s 9     | --size is not for limit-cacheline, which is measured with 8 bytes",
        "nio-connect -s 64                   | --size is not for nio-connect, which is measured with 1 byte",
        "--size=0                            | a size must be 1 byte to 1g, not '0'",
        "--size=-8                           | a size must be 1 byte to 1g, not '-8'",
        "--size=2g                           | a size must be 1 byte to 1g, not '2g'",
        "--size=99999999999999999999         | is not a number of bytes",
        "--size=8q                           | '8q' is not a number of bytes",
        "--duration=soon                     | 'soon' is not a time",
        "--duration=0                        | '0' is not a time such as 2s or 100ms, more than 0 and up to a day",
        "--iterations=0                      | --iterations 0: must be 1",
        "--iterations=5 --duration=1s        | --iterations and --duration exclude each other",
        "--runs=0                            | --runs 0: must be 1",
        "--runs=2 --connect=127.0.0.1:1      | does not go with --connect",
        "--qps=0                             | --qps 0: must be 1",
        "--inline=-1                         | --inline -1: must be 0",
        "--once                              | --once goes with --listen only",
        "--listen=x                          | --listen x: not a PORT",
        "--listen=70000                      | --listen 70000: not a PORT",
        "--listen=0 --json                   | drop --json",
        "--listen=0 --size=8                 | drop --size",
        "--connect=127.0.0.1:x               | --connect 127.0.0.1:x: not a PORT",
        "write-lat --events                  | write-lat does not take --events: it is for write-imm-lat, send-lat, read-lat",
        "tcp-bw --qps=2                      | tcp-bw does not take --qps: it is for write-bw, send-bw, read-bw",
        "read-lat --inline=8                 | read-lat does not take --inline",
        "send-lat --consume                  | send-lat does not take --consume",
        "tcp-bw --verify                     | tcp-bw does not take --verify",
        "write-bw --verify --qps=2           | --verify works with one queue pair only",
        "nio-bw --connections=1,0            | --connections 0: must be 1",
        "nio-bw --connections=10001          | --connections 10001: must be 1",
        "nio-bw --connections=many           | 'many' is not an int",
        "nio-transfer --connections=2        | nio-transfer does not take --connections",
        "tcp-bw --connections=1,100          | tcp-bw does not take --connections",
        "nio-transfer-from --consume         | nio-transfer-from does not take --consume",
        "erm-lat --events                    | erm-lat does not take --events",
        "erm-lat --consume                   | erm-lat does not take --consume",
        "erm-lat --inline=8                  | erm-lat does not take --inline",
        "erm-reg --verify                    | erm-reg does not take --verify",
        "erm-dereg --counters                | --counters is for tests of verbs, remote memory and channels",
        "erm-bw --qps=2                      | erm-bw does not take --qps",
        "erm-bw --connections=2              | erm-bw does not take --connections",
        "-d roce_eth0 write-bw erm-bw         | a process has roce_eth0 once, for verbs or for streams",
        "--counters tcp-bw                   | --counters is for tests of verbs, remote memory and channels",
        "raw-lat write-lat                   | raw-lat goes with tests of UDP, TCP and limits only: measure write-lat by itself",
        "raw-rate --device=xdp_eth0          | raw-rate has two ends: without --device it makes a veth pair",
        "raw-bw --connect=127.0.0.1:1        | raw-bw with --connect needs --device xdp_NAME",
        "raw-bw --consume                    | raw-bw does not take --consume",
        "raw-rate --rate=1k                  | raw-rate does not take --rate",
        "udp-rate --rate=1k                  | udp-rate does not take --rate",
        "raw-lat --events                    | raw-lat does not take --events",
        "raw-lat --counters                  | --counters is for tests of verbs, remote memory and channels",
        "stack-udp-lat send-lat              | stack-udp-lat goes with tests of UDP, TCP and limits only: measure send-lat",
        "stack-udp-lat --device=xdp_eth0     | stack-udp-lat has two ends: without --device it makes a veth pair",
        "stack-lat nio-lat-spin              | stack-lat goes with tests of UDP, TCP and limits only: measure nio-lat-spin",
        "stack-bw --consume                  | stack-bw does not take --consume",
        "stack-connect --rate=1k             | stack-connect does not take --rate",
        "stack-connect --size=2              | --size is not for stack-connect, which is measured with 1 byte",
        "stack-udp-lat --events              | stack-udp-lat does not take --events",
        "--cpus=1                            | --cpus 1: must be two different CPUs",
        "--cpus=1,1                          | --cpus 1,1: must be two different CPUs",
        "--cpus=0,1,2                        | --cpus 0,1,2: must be two different CPUs",
        "--cpus=0,-1                         | --cpus -1: must be 0",
        "--cpus=0,x                          | 'x' is not an int",
        "--cpus=0,1 --no-pin                 | --cpus and --no-pin exclude each other",
        "--listen=0 --cpus=0,1               | drop --cpus",
        "tcp-bw --device=shm0                | --device is for tests of verbs and remote memory, and tcp-bw is none",
        "tcp-bw --hlog=x                     | --hlog is for tests of round trips, and tcp-bw is none",
        "tcp-bw --histogram                  | --histogram is for tests of round trips, and tcp-bw is none",
        "--histogram --json                  | --histogram goes under the table",
        "--csv --json                        | --json and --csv exclude each other",
        "--counters --hgrm=x                 | --counters has ratios only: drop --hgrm",
        "tcp-bw --rate=1000                  | tcp-bw does not take --rate: it is for write-lat, write-imm-lat, send-lat",
        "limit-twoline --rates=1-2+1         | limit-twoline does not take --rates",
        "nio-connect --rate=10               | nio-connect does not take --rate",
        "write-lat --rate=0                  | a rate of '0' sends nothing: take 1 message per second or more",
        "write-lat --rate=-5k                | a rate of '-5k' sends nothing",
        "write-lat --rate=0.5                | a rate of '0.5' sends nothing",
        "write-lat --rate=20.1m              | a rate of '20.1m' is beyond the clock, which is read twice for each",
        "write-lat --rate=soon               | 'soon' is not a rate: say how many messages per second, such as 5000",
        "write-lat --rate=10-20+1            | '10-20+1' is not a rate",
        "write-lat --rates=2k-1k+10          | '2k-1k+10' begins above its end: write 1k-2k+10",
        "write-lat --rates=1k-2k             | '1k-2k' is not a sweep of rates: write A-B+STEP or A-B*FACTOR",
        "write-lat --rates=1k-2k+0           | a rate of '0' sends nothing",
        "write-lat --rates=1k-2k*1           | '1k-2k*1' has the factor '1': it must be above 1",
        "write-lat --rates=1k-2k*x           | '1k-2k*x' has the factor 'x': it must be above 1",
        "write-lat --rates=1k-20m+1k         | '1k-20m+1k' has more than 1000 rates: take a larger step",
        "write-lat --rates=1k-20m*1.00001    | has more than 1000 rates: take a larger step",
        "write-lat --rates=1k,,2k            | '' is not a rate",
        "write-lat --rate=1k --rates=1k,2k   | --rate and --rates exclude each other",
        "--counters --rate=1k                | --counters compares runs of its own, without a rate: drop --rate",
        "--counters --baseline=x             | --counters compares runs of its own, without a rate: drop --baseline",
        "--listen=0 --rate=1k                | drop --rate",
        "--sizes=8                           | Unknown option: '--sizes",
    })
    void wrongUsageIsReported(String arguments, String sentence) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true))
                .execute(("perf " + arguments).split(" "));
        assertThat(code).as(err.toString()).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(sentence).contains("Try 'verbena perf --help'");
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1,1", "64,64", "4k,4096", "1M,1048576", "1g,1073741824"})
    void sizesAreParsed(String text, long bytes) {
        assertThat(new Units.Size().convert(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"1ns,1", "2us,2000", "300ms,300000000", "0.5s,500000000", "2,2000000000"})
    void timesAreParsed(String text, long nanos) {
        assertThat(new Units.Time().convert(text)).isEqualTo(nanos);
    }
}
