// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import org.verbena.tests.docs.LayoutDocument.Bits;

/** Holds the private data, the messages and the words that docs/erm.md draws to the code. */
class ErmLayoutTest {
    private static final LayoutDocument DOCUMENT = new LayoutDocument("docs/erm.md", "verbena-erm");
    /** What of it the transport carries. */
    private static final LayoutDocument SOCKETS = new LayoutDocument("docs/erm.md", "verbena-sockets");

    private static final List<String> LINES = List.of(
            // private data
            "Private data of REQ and REP, {HandshakeLayout.BYTES} bytes, big-endian",
            "| {HandshakeLayout.MAGIC} | `VBIN` |",
            """
                    | {HandshakeLayout.VERSION} | byte version, {Handshake.VERSION};
                    {HandshakeLayout.QUEUE_PAIR} byte queue pair: {Handshake.COPIES} copies, {Handshake.CONTROL} control;
                    {HandshakeLayout.FEATURES} short features: bit {log Handshake.UPDATES}, HOLD and UPDATE are supported""",
            "| {HandshakeLayout.ACCEPTOR_TOKEN} | long random number of the end that was accepted |",
            "| {HandshakeLayout.CONNECTOR_TOKEN} | long random number of the end that connected |",
            "| {HandshakeLayout.CREDITS} | int initial credits",
            "{HandshakeLayout.ASYNC_CREDITS} int the same, of asynchronous copies |",
            "| {HandshakeLayout.REGIONS} | int limit of regions that the sender accepts; {HandshakeLayout.RESERVED} int 0 |",
            "has not set bit {log Handshake.UPDATES} of the features in its private data is sent none of {Messages.HOLD} to {Messages.UPDATED}.",
            // remote completions
            "with receives of {Messages.RECEIVE_BYTES} bytes",
            "Any other **remote completion**, {CompletionLayout.BYTES} bytes, little-endian",
            """
                    | {CompletionLayout.ID} | int id of the receiver's region;
                    {CompletionLayout.KIND} int kind: {RemoteCompletion.WRITTEN} written, {RemoteCompletion.READ} read |""",
            """
                    | {CompletionLayout.OFFSET} | long offset; {CompletionLayout.LENGTH} long length;
                    {CompletionLayout.USER_DATA} long user data |""",
            "| {CompletionLayout.CONSUMED} | int total of remote completions",
            "has consumed; {CompletionLayout.RESERVED} int 0 |",
            "name, 1 to {ImmediateCompletion.NAMES} and less one in the value",
            // messages of control
            """
                    A message of **control**, {ControlLayout.BYTES} bytes, little-endian: {ControlLayout.TYPE} int type,
                    {ControlLayout.ID} int id, {ControlLayout.ADDRESS} long address, {ControlLayout.LENGTH} long length,
                    {ControlLayout.KEY} int key, {ControlLayout.ACCESS} int access, {ControlLayout.TAG} long tag,
                    {ControlLayout.ERRNO} int errno, {ControlLayout.RESERVED} int 0.""",
            "name for immediate completions or {ImmediateCompletion.NO_NAME} |",
            "| {Messages.ADD} | ADD |",
            "| {Messages.ADDED} | ADDED |",
            "| {Messages.REVOKE} | REVOKE |",
            "| {Messages.REVOKED} | REVOKED |",
            "| {Messages.REMOTE_COMPLETION} | REMOTE_COMPLETION |",
            "| {Messages.CREDIT} | CREDIT |",
            "| {Messages.HOLD} | HOLD |",
            "| {Messages.HELD} | HELD |",
            "| {Messages.UPDATE} | UPDATE |",
            "| {Messages.UPDATED} | UPDATED |",
            // limits
            "| regions of each end | {Limits.REGIONS} |",
            "| copies outstanding or not polled | {Limits.COPIES} |");

    private static final List<String> LINES_OF_SOCKETS = List.of(
            "sets bit {log HandshakeMessage.NONCES} of the features",
            "to offset {BlockLayout.NONCE} of the other's [control block]");

    @TestFactory
    Stream<DynamicTest> documentHasTheNumbersOfTheCode() {
        return Stream.concat(DOCUMENT.hasLines(LINES), SOCKETS.hasLines(LINES_OF_SOCKETS));
    }

    @Test
    void everyConstantOfALayoutIsDrawn() throws Exception {
        DOCUMENT.hasAllConstants(LINES, Map.of(
                "HandshakeLayout", List.of(),
                "Handshake", List.of("MIN_VERSION"),
                "ControlLayout", List.of(),
                "Messages", List.of(),
                "CompletionLayout", List.of(),
                "RemoteCompletion", List.of(),
                "ImmediateCompletion", List.of()));
    }

    @Test
    void privateDataBeginsWithTheNumberOfTheCode() {
        assertThat(ByteBuffer.wrap("VBIN".getBytes(StandardCharsets.US_ASCII)).getInt())
                .isEqualTo((int) SOCKETS.constant("PeerRendezvous", "MAGIC"));
    }

    @Test
    void idOfARegionHasTheBitsOfTheCode() {
        long side = low(constant("RegionId", "SIDE_BITS"));
        long index = constant("RegionId", "MAX_INDEX") << constant("RegionId", "SIDE_BITS");
        long generation = constant("RegionId", "MAX_GENERATION") << constant("RegionId", "SIDE_BITS") + constant(
                "RegionId", "INDEX_BITS");
        DOCUMENT.hasIntWord(new Bits("0", 1L << Integer.SIZE - 1), new Bits("generation", generation), new Bits("index",
                index), new Bits("side", side));
    }

    @Test
    void immediateValueHasTheBitsOfTheCode() {
        long offset = low(constant("ImmediateCompletion", "OFFSET_BITS"));
        DOCUMENT.hasIntWord(new Bits("name", constant("ImmediateCompletion", "NAMES") - 1 << constant(
                "ImmediateCompletion", "OFFSET_BITS")),
                new Bits("offset / " + (1L << constant("ImmediateCompletion", "UNIT_BITS")), offset));
    }

    private static long constant(String type, String name) {
        return DOCUMENT.constant(type, name);
    }

    private static long low(long bits) {
        return (1L << bits) - 1;
    }
}
