// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/**
 * Layout of an adapter, the memory file in which a context publishes its queue pairs, keys and arm words
 * for its peers. The owner writes, peers map it read-only. Little-endian; offsets in bytes.
 *
 * <pre>
 * 0         header: magic, version, size, process id, instance, and 1 once its process is about to end in order
 * 1 Mi      queue pair directory: {@value #MAX_QP} entries of 256 bytes, by the number's low 12 bits
 * 2 Mi      arm words: one line of 64 bytes for each completion queue
 * 3 Mi      pool directory: {@value CommonsLayout#MAX_POOLS} entries of 128 bytes, by the number's low 13 bits
 * 4 Mi      key table: {@value #MAX_KEYS} entries of 64 bytes, by the key's bits 8 to 23
 * 8 Mi      heap: receive rings; rings and slots of pools; in pages
 *
 * queue pair entry               line
 *   0  link                      0   the requests that this end accepts, see {@link Link}; 0: none
 *   8  receive ring, offset      0
 *  16  receive ring, entries     0   int, a power of two
 *  20  elements of a receive     0   int
 *  24  protection domain         0   int
 *  28  flags                     0   int, 1: completions carry time stamps
 *  32  arm word, index           0   int, of the receive completion queue
 *  36  channel                   0   int, number of the doorbell to ring; 0: none
 *  40  RNR timer                 0   int, code 0..31
 *  44  queue pair number         0   int, 0: entry unused
 *  48  peer's instance           0
 *  56  pool                      0   int, index + 1 of the pool that receives are taken from; 0: its own ring
 *  60  type                      0   int
 *  64  peer's queue pair         1   int, its number
 *  96  starving                  1   1: a send waits here for the peer to post a receive, which then signals
 * 112  XRC domain                1   16 bytes, its key; of type XRC_RECV
 * 128  hazard                    2   what the initiator accesses now, see {@link Hazard}
 * 136  held                      2   the {@link Claim} that is kept for the next try; 0: none
 * 144  held of                   2   int, number of the shared receive queue that it is of, with XRC
 * 192  receives posted           3   see {@link Posted}; with a pool: the lane entries that may be used
 *
 * receive ring entry: 16 + 16 * elements bytes
 *   0  int number of elements, 8 long total length
 *  16  elements: long address, int key, int length
 *
 * pool entry, see {@link CommonsLayout}
 *   0  number                    0   int, index:13 and generation:11; 0: entry unused
 *   4  elements of a receive     0   int
 *   8  ring, offset              0   8 bytes for each position: its {@link Claim}
 *  16  slots, offset             0   as many as the ring has entries, each like an entry of a receive ring
 *  24  ring, entries             0   int, a power of two
 *  28  protection domain         0   int
 *  32  flags                     0   int, 1: completions carry time stamps
 *  36  arm word, index           0   int, of the completion queue that reads the inbox
 *  40  channel                   0   int, of that one; 0: none
 *  48  inbox, offset             0   in the commons, an entry for each slot; 0: there is none
 *  64  receives posted           1
 *  72  limit                     1   sequence:32, limit:32; ring the engine when fewer receives are left
 *
 * key table entry
 *   0  word: bit 0 valid, bit 1 shared, bit 2 no memory, bit 3 memory window, bits 4 and 5 access to flush, access 8 bits from bit 8,
 *      domain 16 bits from bit 16, generation from bit 32
 *   8  address as requests name it, 16 length, 24 memory id (if shared)
 *  32  offset in that memory; if it is not shared, the address in its process
 *  40  int, of a memory window of type 2: the queue pair through which it was bound; else 0
 *  48  the word that a memory window was published with, for its owner
 * </pre>
 */
public final class AdapterLayout {
    public static final long MAGIC = 0x3150_4148_5342_4556L; // "VEBSHAP1"
    public static final int VERSION = 4;
    public static final long SIZE = 1L << 30;

    public static final int MAX_QP = 4096;
    public static final int MAX_CQ = 4096;
    public static final int MAX_KEYS = 65536;
    public static final int MAX_PD = 65535;

    static final long HEADER_MAGIC = 0;
    public static final long HEADER_VERSION = 8;
    static final long HEADER_SIZE = 16;
    static final long HEADER_PID = 24;
    public static final long HEADER_INSTANCE = 32;
    static final long HEADER_DEPARTS = 40;

    public static final long QP_DIRECTORY = 1L << 20;
    public static final int QP_STRIDE_SHIFT = 8;
    public static final long QP_LINK = 0;
    public static final long QP_RING = 8;
    public static final long QP_RING_ENTRIES = 16;
    public static final long QP_RING_SGE = 20;
    public static final long QP_PD = 24;
    public static final long QP_FLAGS = 28;
    public static final long QP_ARM = 32;
    public static final long QP_CHANNEL = 36;
    public static final long QP_RNR_TIMER = 40;
    public static final long QP_NUMBER = 44;
    public static final long QP_PEER = 48;
    public static final long QP_POOL = 56;
    public static final long QP_TYPE = 60;
    public static final long QP_PEER_NUMBER = 64;
    public static final long QP_STARVING = 96;
    public static final long QP_DOMAIN = 112;
    public static final long QP_HAZARD = 128;
    public static final long QP_HELD = 136;
    public static final long QP_HELD_QUEUE = 144;
    public static final long QP_POSTED = 192;

    public static final int FLAG_TIMESTAMPS = 1;

    public static final long ARM_WORDS = 2L << 20;
    static final int ARM_STRIDE_SHIFT = 6;

    static final long POOLS = 3L << 20;
    static final int POOL_STRIDE_SHIFT = 7;
    public static final long POOL_NUMBER = 0;
    public static final long POOL_SGE = 4;
    public static final long POOL_RING = 8;
    public static final long POOL_SLOTS = 16;
    public static final long POOL_ENTRIES = 24;
    public static final long POOL_PD = 28;
    public static final long POOL_FLAGS = 32;
    public static final long POOL_ARM = 36;
    public static final long POOL_CHANNEL = 40;
    public static final long POOL_INBOX = 48;
    public static final long POOL_POSTED = 64;
    public static final long POOL_LIMIT = 72;

    public static final long KEYS = 4L << 20;
    static final int KEY_STRIDE_SHIFT = 6;
    public static final long KEY_WORD = 0;
    public static final long KEY_ADDRESS = 8;
    public static final long KEY_LENGTH = 16;
    public static final long KEY_MEMORY = 24;
    public static final long KEY_MEMORY_OFFSET = 32;
    public static final long KEY_OWNER = 40;
    public static final long KEY_LATEST = 48;

    public static final long HEAP = 8L << 20;

    /** Of a receive of a pool: an int, the length for its {@link Claim}. */
    public static final long WQE_FITS = 4;
    public static final long WQE_LENGTH = 8;
    public static final long WQE_HEADER = 16;
    public static final long WQE_SGE = 16;

    private AdapterLayout() {}

    /** The index of a queue pair in tables that its number does not fit: its low bits. */
    public static int qpIndex(int number) {
        return number & MAX_QP - 1;
    }

    /** Offset of a queue pair's directory entry. */
    public static long qpEntry(int number) {
        return QP_DIRECTORY + ((long) qpIndex(number) << QP_STRIDE_SHIFT);
    }

    /** Offset of a completion queue's arm word. */
    public static long armWord(int index) {
        return ARM_WORDS + ((long) index << ARM_STRIDE_SHIFT);
    }

    /** Offset of a pool's directory entry. */
    public static long poolEntry(int index) {
        return POOLS + ((long) index << POOL_STRIDE_SHIFT);
    }

    /** Offset of a key's entry; any key of 24 bits lies within the table. */
    public static long keyEntry(int key) {
        return KEYS + ((long) (key >>> 8 & MAX_KEYS - 1) << KEY_STRIDE_SHIFT);
    }

    /** Bytes of one receive ring entry, a multiple of 16. */
    public static long wqeStride(int maxSge) {
        return WQE_HEADER + WQE_SGE * maxSge;
    }
}
