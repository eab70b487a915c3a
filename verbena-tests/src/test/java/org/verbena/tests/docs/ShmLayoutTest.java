// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import org.verbena.tests.docs.LayoutDocument.Bits;

/**
 * Holds the layouts that docs/shm.md draws to the constants of the code, in whatever package of verbena-shm their class lies.
 */
class ShmLayoutTest {
    private static final LayoutDocument DOCUMENT = new LayoutDocument("docs/shm.md", "verbena-shm");

    /** Lines of the document, with a constant in place of each number; white space does not count. */
    private static final List<String> LINES = List.of(
            "Version {AdapterLayout.VERSION}. Little-endian",
            // adapter
            """
                    0 header {AdapterLayout.HEADER_MAGIC} magic "VEBSHAP1" {AdapterLayout.HEADER_VERSION} version
                    {AdapterLayout.HEADER_SIZE} size {AdapterLayout.HEADER_PID} process id
                    {AdapterLayout.HEADER_INSTANCE} instance {AdapterLayout.HEADER_DEPARTS} departs""",
            """
                    {Mi AdapterLayout.QP_DIRECTORY} Mi queue pair directory {AdapterLayout.MAX_QP} entries of
                    {bytes AdapterLayout.QP_STRIDE_SHIFT} bytes, by the low {log AdapterLayout.MAX_QP} bits of the number""",
            """
                    {Mi AdapterLayout.ARM_WORDS} Mi arm words {AdapterLayout.MAX_CQ} lines of
                    {bytes AdapterLayout.ARM_STRIDE_SHIFT} bytes""",
            """
                    {Mi AdapterLayout.POOLS} Mi pool directory {CommonsLayout.MAX_POOLS} entries of
                    {bytes AdapterLayout.POOL_STRIDE_SHIFT} bytes, by the low {log CommonsLayout.MAX_POOLS} bits of the number""",
            """
                    {Mi AdapterLayout.KEYS} Mi key table {AdapterLayout.MAX_KEYS} entries of
                    {bytes AdapterLayout.KEY_STRIDE_SHIFT} bytes, by the key's index""",
            "{Mi AdapterLayout.HEAP} Mi heap receive rings",
            // queue pair entry
            "Queue pair entry, {bytes AdapterLayout.QP_STRIDE_SHIFT} bytes, four lines",
            "| {AdapterLayout.QP_LINK} | link |",
            "{Link.GIVEN_UP}: accepts nothing, and a peer that is inside is given up",
            "| {AdapterLayout.QP_RING} | receive ring |",
            "| {AdapterLayout.QP_RING_ENTRIES}, {AdapterLayout.QP_RING_SGE} | entries, elements |",
            "| {AdapterLayout.QP_PD} | protection domain |",
            "| {AdapterLayout.QP_FLAGS} | flags | int, {AdapterLayout.FLAG_TIMESTAMPS}: completions are to carry time stamps |",
            "| {AdapterLayout.QP_ARM}, {AdapterLayout.QP_CHANNEL} | arm word, channel |",
            "| {AdapterLayout.QP_RNR_TIMER} | RNR timer |",
            "| {AdapterLayout.QP_NUMBER} | queue pair number |",
            "| {AdapterLayout.QP_PEER} | peer's instance |",
            "| {AdapterLayout.QP_POOL} | pool |",
            "| {AdapterLayout.QP_TYPE} | type |",
            "| {AdapterLayout.QP_PEER_NUMBER} | peer's queue pair |",
            "| {AdapterLayout.QP_STARVING} | starving |",
            "| {AdapterLayout.QP_DOMAIN} | XRC domain |",
            "| {AdapterLayout.QP_HAZARD} | hazard |",
            "or {hex Hazard.RECEIVES} for posted receives",
            "| {AdapterLayout.QP_HELD} | held |",
            "| {AdapterLayout.QP_HELD_QUEUE} | held of |",
            "| {AdapterLayout.QP_POSTED} | posted |",
            // receive ring entry
            """
                    {AdapterLayout.WQE_HEADER} + {AdapterLayout.WQE_SGE} × elements bytes: `0` int number of elements,
                    `{AdapterLayout.WQE_LENGTH}` long total length, from `{AdapterLayout.WQE_HEADER}` elements""",
            "int {AdapterLayout.WQE_FITS} of one is its length as a claim has it",
            // key table entry
            """
                    Key table entry, {bytes AdapterLayout.KEY_STRIDE_SHIFT} bytes: `{AdapterLayout.KEY_WORD}` word,
                    `{AdapterLayout.KEY_ADDRESS}` address as requests name it, `{AdapterLayout.KEY_LENGTH}` length,
                    `{AdapterLayout.KEY_MEMORY}` memory id, `{AdapterLayout.KEY_MEMORY_OFFSET}` offset in that""",
            "`{AdapterLayout.KEY_OWNER}` int, of a memory window of type 2",
            "`{AdapterLayout.KEY_LATEST}` for the owner's use",
            """
                    bit {log KeyTable.VALID} of the flags: valid, {log KeyTable.SHARED}: shared, {log KeyTable.NULL_REGION}: null region,
                    without memory, {log KeyTable.WINDOW}: memory window, 4 and 5: access to flush""",
            // arm word
            "mode 0 not armed, {ArmWord.SOLICITED_ONLY} solicited only, {ArmWord.ANY} any",
            // pools
            "the length is at most {Claim.LONG}, and 0 if",
            """
                    Pool entry in the adapter, {bytes AdapterLayout.POOL_STRIDE_SHIFT} bytes: `{AdapterLayout.POOL_NUMBER}` int
                    number (`generation:11 │ index:{log CommonsLayout.MAX_POOLS}`), `{AdapterLayout.POOL_SGE}` int elements,
                    `{AdapterLayout.POOL_RING}` ring, `{AdapterLayout.POOL_SLOTS}` slots, `{AdapterLayout.POOL_ENTRIES}` int
                    number of slots, `{AdapterLayout.POOL_PD}` int protection domain, `{AdapterLayout.POOL_FLAGS}` int flags
                    (1: time stamps), `{AdapterLayout.POOL_ARM}` int arm word, `{AdapterLayout.POOL_CHANNEL}` int channel,
                    `{AdapterLayout.POOL_INBOX}` inbox (offset in the commons, 0: none); in the second line
                    `{AdapterLayout.POOL_POSTED}` receives posted, `{AdapterLayout.POOL_LIMIT}` limit""",
            // commons
            """
                    `{CommonsLayout.HEADER_MAGIC}` magic `VEBSCOM1`, `{CommonsLayout.HEADER_VERSION}` version,
                    `{CommonsLayout.HEADER_SIZE}` size, `{CommonsLayout.HEADER_INSTANCE}` instance""",
            """
                    Pool lines begin at {Mi CommonsLayout.POOLS} Mi, {bytes CommonsLayout.POOL_STRIDE_SHIFT} bytes each:
                    `{CommonsLayout.NEXT}` next, in the second line `{CommonsLayout.STARVING}` starving,
                    `{CommonsLayout.NOTIFIED}` notified, `{CommonsLayout.LOST}` lost, `{CommonsLayout.LIMIT}` limit""",
            "Inboxes lie in the heap from {Mi CommonsLayout.HEAP} Mi on",
            "with the claim in its second line (offset {LaneLayout.CLAIM}; payload inline up to {LaneLayout.FIRST_LINE} bytes)",
            "(`{LaneLayout.SOURCE}` instance, `{LaneLayout.SOURCE_QP}` int queue pair)",
            "queue pair of type XRC_RECV (`{LaneLayout.DESTINATION_QP}` int)",
            // lane arena
            """
                    0 header {LaneLayout.HEADER_MAGIC} magic "VEBSLAN1" {LaneLayout.HEADER_VERSION} version
                    {LaneLayout.HEADER_SIZE} size {LaneLayout.HEADER_WRITER} writer's instance
                    {LaneLayout.HEADER_READER} reader's instance
                    {LaneLayout.HEADER_LANE_PAGES} pages of the lane directory that there are, a bit each
                    {LaneLayout.HEADER_ENDED} ended""",
            "{Ki LaneLayout.HINTS} Ki marks: a 16-bit count for each queue pair",
            "{Ki LaneLayout.LANES} Ki lane directory: {LaneLayout.LANE_BYTES} bytes for each queue pair of the reader",
            """
                    {LaneLayout.LANE_TARGET} target {LaneLayout.LANE_OFFSET} lane, offset in the arena
                    {LaneLayout.LANE_ENTRIES} its entries {LaneLayout.LANE_NOTIFIED} notified""",
            "{Mi CountsLayout.SLOTS} Mi counts of the writer's accesses to memory of the reader",
            "{Mi LaneLayout.HEAP} Mi lanes, in pages",
            // counts
            """
                    header {CountsLayout.USED} slots used {CountsLayout.CHANGES} changes of the tables {CountsLayout.PAGES}
                    pages of the tables that there are, a bit each""",
            """
                    {Mi CountsLayout.SLOTS} Mi slots of {bytes CountsLayout.SLOT_SHIFT} bytes: {CountsLayout.SLOT_QP} queue pair,
                    {CountsLayout.SLOT_PEER_QP} peer's queue pair, {CountsLayout.WRITES} writes, {CountsLayout.WRITE_BYTES} bytes,
                    {CountsLayout.READS} reads, {CountsLayout.READ_BYTES} bytes, {CountsLayout.ATOMICS} atomics,
                    {CountsLayout.OTHERS} waits, {CountsLayout.SLOT_KEY} key""",
            """
                    {Mi CountsLayout.QUEUE_PAIRS} Mi by the peer's queue pair, {bytes CountsLayout.ENTRY_SHIFT} bytes:
                    {CountsLayout.ENTRY_TAG} number and a bit, {CountsLayout.WRITES} … as above""",
            """
                    {Mi CountsLayout.KEYS} Mi by the peer's key, {bytes CountsLayout.ENTRY_SHIFT} bytes: {CountsLayout.ENTRY_TAG}
                    key and a bit, {CountsLayout.WRITES} … as above, but {CountsLayout.OTHERS} refused requests""",
            // lane entry
            "Lane entry, {bytes LaneLayout.ENTRY_SHIFT} bytes, two lines",
            "0 ──────────────────────────────── 47 {LaneLayout.LENGTH} {LaneLayout.IMMEDIATE} {LaneLayout.COMMIT}",
            "payload of 0 to {LaneLayout.FIRST_LINE} bytes",
            "payload of 49 to {LaneLayout.INLINE} bytes",
            "{LaneLayout.SECOND_LINE} ───",
            """
                    Flags: {LaneLayout.HAS_IMMEDIATE} immediate, {LaneLayout.IS_SOLICITED} solicited, {LaneLayout.IS_INLINE} payload
                    is inline, {LaneLayout.IN_SECOND_LINE} payload in the second line, {LaneLayout.HAS_TIMESTAMP} time stamp,
                    {LaneLayout.HAS_INVALIDATE} in place of the immediate a key""",
            // datagrams
            "at offset {DatagramLayout.COUNTER_TAKEN}, the records that got a receive",
            "A record is a multiple of {DatagramLayout.UNIT} bytes",
            "{Ki DatagramLayout.MIN_BYTES} KiB to {Mi DatagramLayout.MAX_BYTES} MiB ({Mi DatagramLayout.SHARED_BYTES} MiB if",
            "| {DatagramLayout.COMMIT} | commit |",
            "| {DatagramLayout.LENGTH}, {DatagramLayout.IMMEDIATE} | length, immediate |",
            "| {DatagramLayout.POSTED} | limit |",
            "| {DatagramLayout.QKEY}, {DatagramLayout.FLAGS} | Q_Key, flags |",
            "| {DatagramLayout.SOURCE}, {DatagramLayout.TIMESTAMP} | source, time stamp |",
            "| {DatagramLayout.GRH} | header | global routing header, {DatagramLayout.GRH_BYTES} bytes |",
            "| {DatagramLayout.MESSAGE} | message | 0 to {DatagramLayout.MAX_MESSAGE} bytes |",
            // control messages
            "One message is one packet of at most {ControlMessage.MAX_BYTES} bytes",
            "text up to {ControlMessage.MAX_TEXT}",
            "| {ControlMessage.HELLO} | HELLO | int version ({ControlMessage.VERSION})",
            "| {ControlMessage.MULTICAST_JOIN}, {ControlMessage.MULTICAST_LEAVE} | MULTICAST_JOIN, LEAVE |",
            "| {ControlMessage.MULTICAST_SYNC}, {ControlMessage.MULTICAST_SYNCED} | MULTICAST_SYNC, SYNCED |",
            "| {ControlMessage.XRC_CLOSE}, {ControlMessage.XRC_QUERY} | XRC_CLOSE, XRC_QUERY |");

    /** Cells of the drawing of a queue pair entry. */
    private static final Map<String, String> CELLS = Map.ofEntries(Map.entry("link", "QP_LINK"), Map.entry("ring",
            "QP_RING"), Map.entry("ent", "QP_RING_ENTRIES"), Map.entry("sge", "QP_RING_SGE"), Map.entry("pd", "QP_PD"),
            Map.entry("flag", "QP_FLAGS"), Map.entry("arm", "QP_ARM"), Map.entry("chan", "QP_CHANNEL"), Map.entry("rnr",
                    "QP_RNR_TIMER"), Map.entry("qpn", "QP_NUMBER"), Map.entry("peer", "QP_PEER"), Map.entry("pool",
                            "QP_POOL"), Map.entry("typ", "QP_TYPE"), Map.entry("pqp", "QP_PEER_NUMBER"), Map.entry(
                                    "starving", "QP_STARVING"), Map.entry("XRC domain", "QP_DOMAIN"), Map.entry(
                                            "hazard",
                                            "QP_HAZARD"), Map.entry("held", "QP_HELD"), Map.entry("hof",
                                                    "QP_HELD_QUEUE"), Map.entry("posted", "QP_POSTED"));

    /** Constants that no reader of another process needs: magic numbers are drawn as text, the rest follows from others. */
    private static final Map<String, List<String>> NOT_DRAWN = Map.of(
            "AdapterLayout", List.of("MAGIC", "SIZE", "MAX_PD"),
            "CommonsLayout", List.of("MAGIC", "SIZE"),
            "LaneLayout", List.of("MAGIC", "SIZE", "HEAD", "LANE_SHIFT", "INLINE_LENGTH_SHIFT", "KNOWN_FLAGS",
                    "HAS_GRH"),
            "CountsLayout", List.of("PAGE_SHIFT", "MAX_SLOTS", "DONE", "END", "NUMBERS"),
            "DatagramLayout", List.of("COUNTER_BYTES", "NOTIFIED", "RECORDS", "OF_RING", "SKIP"));

    @TestFactory
    Stream<DynamicTest> documentHasTheNumbersOfTheCode() {
        return DOCUMENT.hasLines(LINES);
    }

    @Test
    void everyConstantOfALayoutIsDrawn() throws Exception {
        DOCUMENT.hasAllConstants(LINES, NOT_DRAWN);
    }

    @Test
    void everyControlMessageIsInTheTable() throws Exception {
        Map<String, String> rows = new HashMap<>();
        Pattern.compile("\\| ([0-9, ]+) \\| ([A-Z_, ]+) \\|").matcher(DOCUMENT.text()).results().forEach(m -> {
            List<String> numbers = List.of(m.group(1).split(", ", -1));
            List<String> names = List.of(m.group(2).split(", ", -1));
            for (int i = 0; i < numbers.size() && i < names.size(); i++) {
                rows.put(numbers.get(i), names.get(i));
            }
        });
        Map<String, String> code = Arrays.stream(DOCUMENT.type("ControlMessage").getDeclaredFields())
                .filter(f -> f.getType() == int.class && Modifier.isStatic(f.getModifiers()) && !f.getName().startsWith(
                        "MAX_") && !f.getName().equals("VERSION"))
                .collect(Collectors.toMap(f -> Long.toString(constant("ControlMessage", f.getName())), Field::getName));
        assertThat(code).isNotEmpty().allSatisfy((number, name) -> assertThat(rows).containsKey(number)
                .satisfies(r -> assertThat(name).endsWith(r.get(number))));
    }

    /** Four lines of 64 bytes; a cell of nine characters has eight bytes, one of half of that four. */
    @Test
    void drawingOfTheQueuePairEntryHasTheOffsetsOfTheCode() {
        String text = DOCUMENT.text();
        Map<String, Long> drawn = new TreeMap<>();
        Pattern.compile("^ +(\\d+) {2}(│.*│)", Pattern.MULTILINE).matcher(text.substring(text.indexOf(
                "Queue pair entry"), text.indexOf("| offset | field |"))).results().forEach(row -> {
                    String cells = row.group(2);
                    for (int at = 0; at < cells.length() - 1; at = cells.indexOf('│', at + 1)) {
                        String label = cells.substring(at + 1, cells.indexOf('│', at + 1)).strip();
                        if (!label.isEmpty()) {
                            drawn.put(label, Long.parseLong(row.group(1)) + at / 9 * 8L + (at % 9 == 0 ? 0 : 4));
                        }
                    }
                });
        assertThat(drawn.keySet()).isEqualTo(new TreeSet<>(CELLS.keySet()));
        assertThat(drawn).allSatisfy((cell, offset) -> assertThat(offset).as(cell).isEqualTo(constant("AdapterLayout",
                CELLS.get(cell))));
    }

    private static long constant(String type, String name) {
        return DOCUMENT.constant(type, name);
    }

    @Test
    void armWordHasTheBitsOfTheCode() {
        DOCUMENT.hasWord(new Bits("sequence", -1L << constant("ArmWord", "SEQUENCE_SHIFT")),
                new Bits("moderated", constant("ArmWord", "MODERATED")),
                new Bits("many", constant("ArmWord", "MANY")),
                new Bits("mode", constant("ArmWord", "MODE")));
    }

    @Test
    void claimHasTheBitsOfTheCode() {
        long length = constant("Claim", "LENGTH_SHIFT");
        DOCUMENT.hasWord(new Bits("1", Long.MIN_VALUE),
                new Bits("position", constant("Claim", "POSITIONS") << constant("Claim", "POSITION_SHIFT")),
                new Bits("length", constant("Claim", "LONG") << length),
                new Bits("slot", (1L << length) - 1));
    }

    @Test
    void linkHasTheBitsOfTheCode() {
        DOCUMENT.hasWord(new Bits("connection", -1L << constant("Link", "CONNECTION_SHIFT")),
                new Bits("access", ~constant("Link", "IDENTITY")), new Bits("0", 0xfe), new Bits("1", 1));
    }

    @Test
    void postedHasTheBitsOfTheCode() {
        long shift = constant("Posted", "COUNT_SHIFT");
        DOCUMENT.hasWord(new Bits("count", -1L << shift), new Bits("shortest", (1L << shift) - 1));
    }

    @Test
    void commitHasTheBitsOfTheCode() throws Exception {
        Method commit = DOCUMENT.type("LaneLayout").getDeclaredMethod("commit", long.class, int.class, int.class,
                int.class);
        commit.setAccessible(true);
        DOCUMENT.hasWord(new Bits("inline length", 255L << constant("LaneLayout", "INLINE_LENGTH_SHIFT")),
                new Bits("flags", (long) commit.invoke(null, -1, 0, 0, 255)),
                new Bits("status", (long) commit.invoke(null, -1, 0, 255, 0)),
                new Bits("opcode", (long) commit.invoke(null, -1, 255, 0, 0)),
                new Bits("sequence", (long) commit.invoke(null, -2, 0, 0, 0)));
    }
}
