// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Response times, by a clock of the test's own. */
class ResponseTimesTest {
    private static long all(ResponseTimes t) {
        return IntStream.range(0, ResponseTimes.BUCKETS).mapToLong(t::count).sum();
    }

    @ParameterizedTest
    @CsvSource({"-5, 0", "0, 0", "255, 0", "256, 1", "511, 1", "512, 2", "1023, 2", "1024, 3", "1073741823, 22",
        "1073741824, 23", "9223372036854775807, 23"})
    void intervalsEndAtPowersOfTwo(long nanos, int bucket) {
        assertThat(ResponseTimes.bucket(nanos)).isEqualTo(bucket);
    }

    @Test
    void furtherWritesBelongToTheRequest() {
        ResponseTimes t = new ResponseTimes();
        assertThat(t.asks(1000)).isTrue();
        assertThat(t.asks(5000)).isFalse();
        t.answered(1000 + 300);
        assertThat(t.count(1)).isEqualTo(1);
        assertThat(t.asks(9000)).as("the write that follows a read").isTrue();
        t.answered(9000 + 100_000);
        assertThat(t.count(ResponseTimes.bucket(100_000))).isEqualTo(1);
        assertThat(all(t)).isEqualTo(2);
    }

    @Test
    void readWithoutARequestIsNone() {
        ResponseTimes t = new ResponseTimes();
        ResponseTimes.answered(t);
        assertThat(t.asks(1)).isTrue();
        ResponseTimes.hasNotAsked(t);
        ResponseTimes.answered(t);
        t.answered(5000); // it was looked at while it still was one
        assertThat(all(t)).isZero();
        ResponseTimes.answered(null);
        ResponseTimes.hasNotAsked(null);
        assertThat(ResponseTimes.ofNew()).as("without the property").isNull();
    }

    @Test
    void clockThatShowsNothingIsNoMissingRequest() {
        ResponseTimes t = new ResponseTimes();
        assertThat(t.asks(0)).isTrue();
        assertThat(t.asks(0)).isFalse();
        t.answered(200);
        assertThat(t.count(0)).isEqualTo(1);
    }
}
