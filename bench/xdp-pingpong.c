// SPDX-License-Identifier: Apache-2.0
/*
 * What `verbena perf raw-lat` does, in C: a frame over AF_XDP and one back, both ends spin. Made and run by bench/raw.
 *
 *   xdp-pingpong IFNAME PEER-MAC CPU BYTES SECONDS ping|pong
 *
 * ping prints: round trips, median in ns, processor time of a round trip in ns.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 4096
#define ENTRIES 512
#define FRAMES (2 * ENTRIES)
#define TYPE_HIGH 0x88 /* EtherType 0x88b5, for experiments */
#define TYPE_LOW 0xb5
#define MOST 20000000
#ifndef XDP_USE_SG /* before Linux 6.6's headers */
#define XDP_USE_SG (1 << 4)
#endif
#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

struct ring {
    uint32_t *producer, *consumer;
    void *entries;
    uint32_t at;
};

static void check(int ok, const char *what) {
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static int bpf(int command, union bpf_attr *a) {
    return (int) syscall(SYS_bpf, command, a, sizeof *a);
}

static struct ring map_ring(int fd, const struct xdp_ring_offset *o, size_t entry, off_t where) {
    uint8_t *p = mmap(NULL, o->desc + ENTRIES * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, where);
    check(p != MAP_FAILED, "mmap");
    struct ring r = {(uint32_t *) (p + o->producer), (uint32_t *) (p + o->consumer), p + o->desc, 0};
    return r;
}

static int map_of_sockets(void) {
    union bpf_attr a = {.map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1};
    int fd = bpf(BPF_MAP_CREATE, &a);
    check(fd >= 0, "bpf map");
    return fd;
}

/* Frames of that type go to the socket, all others on. */
static void attach(int sockets, int link) {
    struct bpf_insn program[] = {
        {BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(struct xdp_md, data), 0},
        {BPF_LDX | BPF_MEM | BPF_W, 3, 1, offsetof(struct xdp_md, data_end), 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0},
        {BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 14},
        {BPF_JMP | BPF_JGT | BPF_X, 4, 3, 8, 0},
        {BPF_LDX | BPF_MEM | BPF_H, 5, 2, 12, 0},
        {BPF_JMP | BPF_JNE | BPF_K, 5, 0, 6, TYPE_LOW << 8 | TYPE_HIGH},
        {BPF_LDX | BPF_MEM | BPF_W, 2, 1, offsetof(struct xdp_md, rx_queue_index), 0},
        {BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, sockets},
        {0, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_XDP, .insns = (uintptr_t) program,
        .insn_cnt = sizeof program / sizeof *program, .license = (uintptr_t) "Apache-2.0",
        .prog_flags = BPF_F_XDP_HAS_FRAGS};
    int fd = bpf(BPF_PROG_LOAD, &load);
    check(fd >= 0, "bpf program");
    union bpf_attr create;
    memset(&create, 0, sizeof create);
    create.link_create.prog_fd = (uint32_t) fd;
    create.link_create.target_ifindex = (uint32_t) link;
    create.link_create.attach_type = BPF_XDP;
    create.link_create.flags = XDP_FLAGS_SKB_MODE;
    check(bpf(BPF_LINK_CREATE, &create) >= 0, "bpf link");
}

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: %s IFNAME PEER-MAC CPU BYTES SECONDS ping|pong\n", argv[0]);
        return 2;
    }
    int link = (int) if_nametoindex(argv[1]);
    check(link > 0, argv[1]);
    int bytes = atoi(argv[4]), ping = strcmp(argv[6], "ping") == 0;
    uint64_t seconds = strtoull(argv[5], NULL, 10);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[3]), &cpus);
    check(sched_setaffinity(0, sizeof cpus, &cpus) == 0, "sched_setaffinity");

    int fd = socket(AF_XDP, SOCK_RAW, 0);
    check(fd >= 0, "socket");
    uint8_t *umem = mmap(NULL, FRAMES * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check(umem != MAP_FAILED, "mmap");
    struct xdp_umem_reg reg = {.addr = (uintptr_t) umem, .len = FRAMES * CHUNK, .chunk_size = CHUNK};
    check(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof reg) == 0, "umem");
    int entries = ENTRIES, options[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING};
    for (int i = 0; i < 4; i++) {
        check(setsockopt(fd, SOL_XDP, options[i], &entries, sizeof entries) == 0, "ring");
    }
    struct xdp_mmap_offsets o;
    socklen_t length = sizeof o;
    check(getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &o, &length) == 0, "offsets");
    struct ring fill = map_ring(fd, &o.fr, 8, (off_t) XDP_UMEM_PGOFF_FILL_RING);
    struct ring done = map_ring(fd, &o.cr, 8, (off_t) XDP_UMEM_PGOFF_COMPLETION_RING);
    struct ring in = map_ring(fd, &o.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
    struct ring out = map_ring(fd, &o.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        ((uint64_t *) fill.entries)[i] = (uint64_t) i * CHUNK;
    }
    fill.at = ENTRIES;
    __atomic_store_n(fill.producer, fill.at, __ATOMIC_RELEASE);
    struct sockaddr_xdp address = {.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY | XDP_USE_NEED_WAKEUP | XDP_USE_SG,
        .sxdp_ifindex = (uint32_t) link};
    check(bind(fd, (struct sockaddr *) &address, sizeof address) == 0, "bind");
    int sockets = map_of_sockets();
    uint32_t queue = 0;
    union bpf_attr element = {.map_fd = (uint32_t) sockets, .key = (uintptr_t) &queue, .value = (uintptr_t) &fd};
    check(bpf(BPF_MAP_UPDATE_ELEM, &element) == 0, "bpf map update");
    attach(sockets, link);

    uint8_t mac[6];
    check(sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) == 6, argv[2]);
    struct ifreq own;
    memset(&own, 0, sizeof own);
    strncpy(own.ifr_name, argv[1], IFNAMSIZ - 1);
    check(ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCGIFHWADDR, &own) == 0, "SIOCGIFHWADDR");
    uint8_t *frame = umem + ENTRIES * CHUNK + 64;
    memcpy(frame, mac, 6);
    memcpy(frame + 6, own.ifr_hwaddr.sa_data, 6);
    frame[12] = TYPE_HIGH;
    frame[13] = TYPE_LOW;

    printf("ready\n");
    fflush(stdout);
    uint32_t *times = malloc(MOST * sizeof *times);
    check(times != NULL, "malloc");
    uint64_t count = 0, warm = 0, cpu = 0, begin = now(CLOCK_MONOTONIC), last = begin;
    int turn = ping;
    for (;;) {
        if (turn) {
            while (done.at != out.at) { // the frame is sent from the same place again
                while (__atomic_load_n(done.producer, __ATOMIC_ACQUIRE) == done.at) {
                }
                __atomic_store_n(done.consumer, ++done.at, __ATOMIC_RELEASE);
            }
            struct xdp_desc *d = (struct xdp_desc *) out.entries + (out.at & (ENTRIES - 1));
            d->addr = ENTRIES * CHUNK + 64;
            d->len = (uint32_t) bytes;
            d->options = 0;
            __atomic_store_n(out.producer, ++out.at, __ATOMIC_RELEASE);
            sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
            turn = 0;
        }
        uint64_t looks = 0;
        while (__atomic_load_n(in.producer, __ATOMIC_ACQUIRE) == in.at) {
            if (++looks == 1u << 30) {
                fprintf(stderr, "nothing comes\n");
                return 1;
            }
        }
        struct xdp_desc *d = (struct xdp_desc *) in.entries + (in.at & (ENTRIES - 1));
        uint64_t place = d->addr / CHUNK * CHUNK;
        int stop = umem[d->addr + 14] == 's';
        __atomic_store_n(in.consumer, ++in.at, __ATOMIC_RELEASE);
        ((uint64_t *) fill.entries)[fill.at & (ENTRIES - 1)] = place;
        __atomic_store_n(fill.producer, ++fill.at, __ATOMIC_RELEASE);
        turn = 1;
        if (stop) {
            return 0;
        }
        if (ping) {
            uint64_t t = now(CLOCK_MONOTONIC);
            if (warm == 0) {
                if (t - begin > 200000000u) { /* what comes before is warm-up */
                    warm = t;
                    cpu = now(CLOCK_PROCESS_CPUTIME_ID);
                }
            } else {
                times[count++] = (uint32_t) (t - last);
                if (t - warm > seconds * 1000000000u || count == MOST) {
                    break;
                }
            }
            last = t;
        }
    }
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    frame[14] = 's';
    struct xdp_desc *d = (struct xdp_desc *) out.entries + (out.at & (ENTRIES - 1));
    d->addr = ENTRIES * CHUNK + 64;
    d->len = (uint32_t) bytes;
    __atomic_store_n(out.producer, ++out.at, __ATOMIC_RELEASE);
    sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
    qsort(times, count, sizeof *times, compare);
    printf("%llu %u %llu\n", (unsigned long long) count, times[count / 2], (unsigned long long) (cpu / count));
    return 0;
}
