// SPDX-License-Identifier: Apache-2.0
/*
 * The structures of libibverbs, as far as the mock needs them, written after the layout of an LP64 Linux. The library that
 * is built with this is loaded in place of the real one; nothing here is a driver.
 */
#ifndef MOCK_H
#define MOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct device {
    void *ops[2];
    int node_type;
    int transport_type;
    char name[64];
    char dev_name[64];
    char dev_path[256];
    char ibdev_path[256];
};

struct context {
    struct device *device;
    void *ops[32];
    int cmd_fd;
    int async_fd;
    int num_comp_vectors;
    pthread_mutex_t mutex;
    void *abi_compat;
};

/* The slots, by their distance below the context in words: 1 is sz, 2 a relic. */
#define MOCK_GONE -1 /* the type of an event whose object is gone before it is read */
#define SLOTS 46
struct extended {
    void *slot[SLOTS + 1]; /* slot[SLOTS + 1 - n] lies n words below */
    struct context context;
};

struct pd { struct context *context; uint32_t handle; };
struct mr { struct context *context; struct pd *pd; void *addr; size_t length; uint32_t handle, lkey, rkey; };
struct mw { struct context *context; struct pd *pd; uint32_t rkey, handle; int type; };
/* With the key that the device knows, which the application writes into rkey as well, as for rxe. */
struct own_mw { struct mw mw; uint32_t key; };
struct bind_info { struct mr *mr; uint64_t addr, length; unsigned access; };
struct mw_bind { uint64_t wr_id; unsigned send_flags; struct bind_info info; };
struct channel { struct context *context; int fd, refcnt; };
struct ah { struct context *context; struct pd *pd; uint32_t handle; };
struct xrcd { struct context *context; };
struct flow { uint32_t comp_mask; struct context *context; uint32_t handle; };
struct counters { struct context *context; uint64_t value[8]; int describes[8]; };

struct sge { uint64_t addr; uint32_t length, lkey; };

struct recv_wr { uint64_t wr_id; struct recv_wr *next; struct sge *sg_list; int num_sge; };

struct send_wr {
    uint64_t wr_id;
    struct send_wr *next;
    struct sge *sg_list;
    int num_sge, opcode;
    unsigned flags;
    uint32_t imm;
    union {
        struct { uint64_t addr; uint32_t rkey; } rdma;
        struct { uint64_t addr, compare_add, swap; uint32_t rkey; } atomic;
        struct { struct ah *ah; uint32_t qpn, qkey; } ud;
    } wr;
    union { struct { uint32_t srqn; } xrc; } qp_type;
    union {
        struct { struct mw *mw; uint32_t rkey; struct bind_info info; } bind;
        struct { void *hdr; uint16_t hdr_sz, mss; } tso;
    } more;
};

struct wc {
    uint64_t wr_id;
    int status, opcode;
    uint32_t vendor_err, byte_len, imm, qp_num, src_qp;
    unsigned flags;
    uint16_t pkey_index, slid;
    uint8_t sl, dlid_path_bits;
};

struct cq {
    struct context *context;
    struct channel *channel;
    void *cq_context;
    uint32_t handle;
    int cqe;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t comp_events, async_events;
};

/* The public part of an extended queue, then our own. */
struct cq_ex {
    struct cq cq;
    uint32_t comp_mask;
    int status;
    uint64_t wr_id;
    void *function[18];
};

#define RING 1024 /* a power of two */
struct own_cq {
    struct cq_ex ex;
    struct wc ring[RING];
    unsigned head, tail;
    unsigned fields;
    int armed, open;
};

struct srq { struct context *context; void *srq_context; struct pd *pd; uint32_t handle; };

struct receives { struct recv_wr wr[RING]; struct sge sge[RING]; unsigned head, tail; };
struct own_srq { struct srq srq; struct receives receives; uint32_t max_wr, max_sge, limit; struct own_cq *cq; };

struct qp {
    struct context *context;
    void *qp_context;
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct srq *srq;
    uint32_t handle, qp_num;
    int state, type;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed;
};

struct qp_ex {
    struct qp qp;
    uint64_t comp_mask, wr_id;
    unsigned wr_flags;
    void *function[22];
};

struct own_qp {
    struct qp_ex ex;
    int extended, sig_all;
    unsigned max_send_wr, max_inline;
    uint8_t attr[144];
    struct receives receives;
    struct send_wr batch[RING];
    struct sge batch_sge[RING][4];
    unsigned char batch_data[RING][64];
    int batched;
};

struct wq {
    struct context *context;
    void *wq_context;
    struct pd *pd;
    struct cq *cq;
    uint32_t wq_num, handle;
    int state, type;
    void *post_recv;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t events_completed, comp_mask;
};
struct own_wq { struct wq wq; struct receives receives; };

struct dm {
    struct context *context;
    void *memcpy_to, *memcpy_from;
    uint32_t comp_mask, handle;
    uint64_t length;
    unsigned char data[4096];
};

/* What was called, how often and with which arguments last. */
struct record { const char *name; uint64_t count, argument[6]; };
struct record *mock_record(const char *name);
#define CALL6(function, a, b, c, d, e, f) do { \
        static struct record *r; \
        if (!r) r = mock_record(#function); \
        r->count++; \
        r->argument[0] = (uint64_t) (a); r->argument[1] = (uint64_t) (b); r->argument[2] = (uint64_t) (c); \
        r->argument[3] = (uint64_t) (d); r->argument[4] = (uint64_t) (e); r->argument[5] = (uint64_t) (f); \
    } while (0)
#define CALL3(function, a, b, c) CALL6(function, a, b, c, 0, 0, 0)
#define CALL1(function, a) CALL6(function, a, 0, 0, 0, 0, 0)

/* mock_data.c */
int mock_post_send(struct qp *qp, struct send_wr *wr, struct send_wr **bad);
int mock_post_recv(struct qp *qp, struct recv_wr *wr, struct recv_wr **bad);
int mock_post_srq_recv(struct srq *srq, struct recv_wr *wr, struct recv_wr **bad);
int mock_post_wq_recv(struct wq *wq, struct recv_wr *wr, struct recv_wr **bad);
int mock_poll_cq(struct cq *cq, int n, struct wc *wc);
int mock_req_notify_cq(struct cq *cq, int solicited);
void mock_fill_cq_ex(struct own_cq *cq);
void mock_fill_qp_ex(struct own_qp *qp);
void mock_complete(struct own_cq *cq, struct wc wc);
struct mr *mock_region(uint32_t key);

extern struct own_qp *mock_qps[64];
extern struct own_srq *mock_srqs[64];
extern struct mr *mock_mrs[256];

#endif
