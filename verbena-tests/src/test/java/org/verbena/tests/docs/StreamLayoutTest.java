// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import org.verbena.tests.docs.LayoutDocument.Bits;

/** Holds the control block, the header of a session and the greetings that docs/stream.md draws to the code. */
class StreamLayoutTest {
    private static final LayoutDocument DOCUMENT = new LayoutDocument("docs/stream.md", "verbena-sockets");

    private static final List<String> LINES = List.of(
            // control block
            "{BlockLayout.BYTES} bytes of each end's memory",
            "| {BlockLayout.PRODUCED} | produced |",
            "| {BlockLayout.LANE} | lane |",
            "| {BlockLayout.END} | end | `position:62 │ kind:2`; {BlockLayout.END_ORDERLY} orderly, {BlockLayout.END_ABORT} broken off",
            "| {BlockLayout.SPACE_ARM} | space arm |",
            "| {BlockLayout.WANTED} | wanted |",
            "| {BlockLayout.LAP} | lap |",
            "| {BlockLayout.BELL} | bell |",
            "- queue {BlockLayout.BELL_QUEUE}: it writes the next value of `bell`",
            "| {BlockLayout.CONSUMED} | consumed |",
            "| {BlockLayout.DATA_ARM} | data arm |",
            "| {BlockLayout.GRANT_ADDRESS} | grant | `long` address; {BlockLayout.GRANT_SIZE_KEY} `int` key",
            "| {BlockLayout.GRANTED} | granted |",
            "| {BlockLayout.CLOSED} | closed |",
            "| {BlockLayout.URGENT} | urgent |",
            "| {BlockLayout.NONCE} | nonce |",
            "| {BlockLayout.READ} | read |",
            "| {BlockLayout.LEFT} | left |",
            // header
            "The header has {ReadyRings.SLOT} bytes for each *ready queue*",
            "| {ReadyRings.ADDRESS} | `long` address of the queue's ring |",
            "| {ReadyRings.RING} | `int` key of the ring",
            "| {ReadyRings.BELL} | bell of this process's own queue",
            "the one at {ReadyRings.DEPARTS} is `departs`",
            // messages of the handshake
            "Messages have {HandshakeMessage.BYTES} bytes, little-endian",
            "| 8 | `int` type: {HandshakeMessage.HELLO} | {HandshakeMessage.OFFER} |",
            "`int` version of the sender, {HandshakeMessage.VERSION} |",
            """
                    `long` features: {HandshakeMessage.NONCES} reads the word `nonce` of its control block;
                    {HandshakeMessage.READ_POSITION} publishes the position up to which it has [read](#ends); {HandshakeMessage.DEPARTURES} reads the word `departs` of a session's header; {HandshakeMessage.LAPS} reads the word `lap` of its control block; {HandshakeMessage.BELLS} rings the [bell](#waiting)""");

    @TestFactory
    Stream<DynamicTest> documentHasTheNumbersOfTheCode() {
        return DOCUMENT.hasLines(LINES);
    }

    @Test
    void everyConstantOfALayoutIsDrawn() throws Exception {
        DOCUMENT.hasAllConstants(LINES, Map.of(
                "BlockLayout", List.of("GENERATION_BITS", "GENERATION_MASK", "END_BITS", "QUEUE_BITS"),
                "HandshakeMessage", List.of("OLDEST", "FEATURES")));
    }

    private static Bits low(String name, String bits) {
        return new Bits(name, (1L << DOCUMENT.constant("BlockLayout", bits)) - 1);
    }

    private static Bits high(String name, String bits) {
        return new Bits(name, -1L << DOCUMENT.constant("BlockLayout", bits));
    }

    @Test
    void wordsOfTheControlBlockHaveTheBitsOfTheCode() {
        DOCUMENT.hasWord(high("position", "GENERATION_BITS"), low("generation", "GENERATION_BITS"));
        DOCUMENT.hasWord(high("position", "END_BITS"), low("kind", "END_BITS"));
        DOCUMENT.hasWord(high("sequence", "QUEUE_BITS"), low("queue", "QUEUE_BITS"));
    }
}
