// SPDX-License-Identifier: Apache-2.0
/* The data path of the mock: what is sent goes to the queue pair that was named at the move to RTR, by memcpy. */
#include "mock.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, WRITE_IMM, SEND, SEND_IMM, READ, CMP_SWP, FETCH_ADD, LOCAL_INV, BIND_MW, SEND_INV, TSO, FLUSH = 14,
       ATOMIC_WRITE };
enum { SIGNALED = 2, SOLICITED = 4 };
enum { LOC_PROT_ERR = 4, MW_BIND_ERR = 6, REM_ACCESS_ERR = 10, RNR_RETRY_EXC_ERR = 13 };
enum { RECV = 128, RECV_RDMA_WITH_IMM = 129, GRH = 1, WITH_IMM = 2, WITH_INV = 8 };

struct own_qp *mock_qps[64];
struct own_srq *mock_srqs[64];
struct mr *mock_mrs[256];

struct mr *mock_region(uint32_t key) {
    uint32_t i = key & 0xff;
    return mock_mrs[i] && mock_mrs[i]->lkey == key ? mock_mrs[i] : NULL;
}

static int is_inside(uint32_t key, uint64_t address, uint64_t length) {
    struct mr *mr = mock_region(key);
    uint64_t base = mr ? (uint64_t) mr->addr : 0;
    return mr && address >= base && address + length <= base + mr->length;
}

void mock_complete(struct own_cq *cq, struct wc wc) {
    cq->ring[cq->tail++ & (RING - 1)] = wc;
    if (cq->armed && cq->ex.cq.channel) {
        cq->armed = 0;
        struct cq *pointer = &cq->ex.cq;
        if (write(cq->ex.cq.channel->refcnt, &pointer, sizeof pointer) < 0) return; /* refcnt: the pipe's other end */
    }
}

int mock_poll_cq(struct cq *base, int n, struct wc *wc) {
    struct own_cq *cq = (struct own_cq *) base;
    int found = 0;
    CALL3(poll_cq, base, n, wc);
    while (found < n && cq->head != cq->tail) wc[found++] = cq->ring[cq->head++ & (RING - 1)];
    return found;
}

int mock_req_notify_cq(struct cq *cq, int solicited) {
    CALL3(req_notify_cq, cq, solicited, 0);
    ((struct own_cq *) cq)->armed = 1;
    return 0;
}

/* ---- the cursor */

static int current(struct own_cq *cq) {
    if (cq->head == cq->tail) return ENOENT;
    cq->ex.status = cq->ring[cq->head & (RING - 1)].status;
    cq->ex.wr_id = cq->ring[cq->head & (RING - 1)].wr_id;
    return 0;
}
static int start_poll(struct own_cq *cq, void *attr) {
    CALL3(start_poll, cq, attr, 0);
    int result = current(cq);
    cq->open = !result;
    return result;
}
static int next_poll(struct own_cq *cq) {
    CALL1(next_poll, cq);
    cq->head++;
    int result = current(cq);
    if (result) cq->head--; /* the last one stays until end_poll */
    else return 0;
    return result;
}
static void end_poll(struct own_cq *cq) { CALL1(end_poll, cq); cq->open = 0; cq->head++; }

#define READER(name, type, expression) \
    static type name(struct own_cq *cq) { struct wc *w = &cq->ring[cq->head & (RING - 1)]; (void) w; return expression; }
READER(read_opcode, int, w->opcode)
READER(read_vendor_err, uint32_t, w->vendor_err)
READER(read_byte_len, uint32_t, w->byte_len)
READER(read_imm, uint32_t, w->imm)
READER(read_qp_num, uint32_t, w->qp_num)
READER(read_src_qp, uint32_t, w->src_qp)
READER(read_flags, unsigned, w->flags)
READER(read_slid, uint32_t, w->slid)
READER(read_sl, uint8_t, w->sl)
READER(read_dlid, uint8_t, w->dlid_path_bits)
READER(read_ts, uint64_t, 0x123456789abcdefULL)
READER(read_cvlan, uint16_t, 0x8123)
READER(read_flow_tag, uint32_t, 0x76543210)
READER(read_wallclock, uint64_t, 1700000000000000001ULL)
static void read_tm(struct own_cq *cq, uint64_t *info) { (void) cq; info[0] = 0x1122334455667788ULL; info[1] = 0x99; }

void mock_fill_cq_ex(struct own_cq *cq) {
    void *all[18] = {start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len, read_imm, read_qp_num,
        read_src_qp, read_flags, read_slid, read_sl, read_dlid, read_ts, read_cvlan, read_flow_tag, read_tm,
        read_wallclock};
    int bit[18] = {-1, -1, -1, -1, -1, 0, 1, 2, 3, -1, 4, 5, 6, 7, 8, 9, 10, 11};
    for (int i = 0; i < 18; i++) /* what was not asked for is a trap */
        cq->ex.function[i] = bit[i] < 0 || cq->fields & 1u << bit[i] ? all[i] : (void *) 1;
}

/* ---- receives */

static int endless; /* receives are forgotten as they are posted: for the benchmark */
void mock_endless(int on) { endless = on; }

static int post_receives(struct receives *r, struct recv_wr *wr, struct recv_wr **bad, unsigned max) {
    for (; wr; wr = wr->next) {
        if (endless) r->head = r->tail;
        if (r->tail - r->head >= max) { *bad = wr; return ENOMEM; }
        unsigned i = r->tail++ & (RING - 1);
        r->wr[i] = *wr;
        if (wr->num_sge) r->sge[i] = wr->sg_list[0];
    }
    return 0;
}
int mock_post_recv(struct qp *qp, struct recv_wr *wr, struct recv_wr **bad) {
    CALL3(post_recv, qp, wr, bad);
    return post_receives(&((struct own_qp *) qp)->receives, wr, bad, 256);
}
int mock_post_srq_recv(struct srq *srq, struct recv_wr *wr, struct recv_wr **bad) {
    CALL3(post_srq_recv, srq, wr, bad);
    return post_receives(&((struct own_srq *) srq)->receives, wr, bad, 256);
}
int mock_post_wq_recv(struct wq *wq, struct recv_wr *wr, struct recv_wr **bad) {
    CALL3(post_wq_recv, wq, wr, bad);
    return post_receives(&((struct own_wq *) wq)->receives, wr, bad, 256);
}

/* ---- sends */

static int deliver(struct own_qp *from, struct send_wr *wr, struct sge *sge, int operation, uint32_t *length) {
    uint32_t dest = from->ex.qp.type == 4 ? wr->wr.ud.qpn : *(uint32_t *) (from->attr + 28);
    struct own_qp *to = mock_qps[dest & 63];
    struct own_srq *srq = to ? (struct own_srq *) to->ex.qp.srq : NULL;
    struct own_cq *cq = to ? (struct own_cq *) to->ex.qp.recv_cq : NULL;
    if (from->ex.qp.type == 9) { srq = mock_srqs[wr->qp_type.xrc.srqn & 63]; cq = srq ? srq->cq : NULL; }
    struct receives *r = srq ? &srq->receives : to ? &to->receives : NULL;
    if (!r || r->head == r->tail) return RNR_RETRY_EXC_ERR;
    unsigned i = r->head++ & (RING - 1);
    uint32_t grh = from->ex.qp.type == 4 ? 40 : 0;
    struct wc wc = {.wr_id = r->wr[i].wr_id, .opcode = operation == WRITE_IMM ? RECV_RDMA_WITH_IMM : RECV,
        .qp_num = to ? to->ex.qp.qp_num : 0, .src_qp = from->ex.qp.qp_num, .imm = wr->imm, .sl = 3, .slid = 7,
        .dlid_path_bits = 5};
    wc.flags = (operation == SEND_IMM || operation == WRITE_IMM ? WITH_IMM : 0) | (operation == SEND_INV ? WITH_INV : 0)
        | (grh ? GRH : 0);
    if (operation != WRITE_IMM) {
        uint64_t at = r->sge[i].addr + grh;
        for (int k = 0; k < wr->num_sge; k++) {
            memcpy((void *) at, (void *) sge[k].addr, sge[k].length);
            at += sge[k].length;
        }
        wc.byte_len = at - r->sge[i].addr;
    }
    mock_complete(cq, wc);
    (void) length;
    return 0;
}

static int execute(struct own_qp *qp, struct send_wr *wr, struct sge *sge, int operation, uint32_t *length) {
    uint64_t remote = wr->wr.rdma.addr;
    *length = 0;
    for (int k = 0; k < wr->num_sge; k++) {
        if (!(wr->flags & 8) && !is_inside(sge[k].lkey, sge[k].addr, sge[k].length)) return LOC_PROT_ERR;
        *length += sge[k].length;
    }
    uint64_t *word = (uint64_t *) remote;
    switch (operation) {
        case WRITE: case WRITE_IMM: case READ:
            if (*length && !is_inside(wr->wr.rdma.rkey, remote, *length)) return REM_ACCESS_ERR;
            for (int k = 0; k < wr->num_sge; k++) {
                if (operation == READ) memcpy((void *) sge[k].addr, (void *) remote, sge[k].length);
                else memcpy((void *) remote, (void *) sge[k].addr, sge[k].length);
                remote += sge[k].length;
            }
            return operation == WRITE_IMM ? deliver(qp, wr, sge, operation, length) : 0;
        case CMP_SWP: case FETCH_ADD:
            if (!is_inside(wr->wr.atomic.rkey, remote, 8)) return REM_ACCESS_ERR;
            memcpy((void *) sge[0].addr, word, 8);
            if (operation == FETCH_ADD) *word += wr->wr.atomic.compare_add;
            else if (*word == wr->wr.atomic.compare_add) *word = wr->wr.atomic.swap;
            return 0;
        case ATOMIC_WRITE:
            if (!is_inside(wr->wr.rdma.rkey, remote, 8)) return REM_ACCESS_ERR;
            *word = wr->wr.atomic.swap;
            return 0;
        case SEND: case SEND_IMM: case SEND_INV:
            return deliver(qp, wr, sge, operation, length);
        case BIND_MW: {
            struct own_mw *own = (struct own_mw *) wr->more.bind.mw;
            if (own->mw.rkey != own->key) return MW_BIND_ERR;
            own->key = wr->more.bind.rkey;
            return 0;
        }
        default:
            return 0;
    }
}

static void run(struct own_qp *qp, struct send_wr *wr, struct sge *sge, int operation) {
    static const int completed[16] = {1, 1, 0, 0, 2, 3, 4, 6, 5, 0, 7, 0, 0, 0, 8, 9};
    uint32_t length;
    int status = execute(qp, wr, sge, operation, &length);
    if (status || qp->sig_all || wr->flags & SIGNALED)
        mock_complete((struct own_cq *) qp->ex.qp.send_cq, (struct wc) {.wr_id = wr->wr_id, .status = status,
            .opcode = completed[operation], .byte_len = length, .qp_num = qp->ex.qp.qp_num, .vendor_err = status});
}

int mock_post_send(struct qp *base, struct send_wr *wr, struct send_wr **bad) {
    struct own_qp *qp = (struct own_qp *) base;
    unsigned posted = 0;
    CALL6(post_send, base, wr, bad, wr->opcode, wr->num_sge, wr->flags);
    for (; wr; wr = wr->next) {
        if (posted++ == qp->max_send_wr) { *bad = wr; return ENOMEM; }
        run(qp, wr, wr->sg_list, wr->opcode);
    }
    return 0;
}

/* ---- sends one by one: kept until they are complete */

static void start(struct own_qp *qp) { CALL1(wr_start, qp); qp->batched = 0; }
static struct send_wr *build(struct own_qp *qp, int operation) {
    int i = qp->batched++ & (RING - 1);
    struct send_wr *wr = &qp->batch[i];
    memset(wr, 0, sizeof *wr);
    wr->wr_id = qp->ex.wr_id;
    wr->flags = qp->ex.wr_flags;
    wr->opcode = operation;
    wr->sg_list = qp->batch_sge[i];
    return wr;
}
static struct send_wr *last(struct own_qp *qp) { return &qp->batch[(qp->batched - 1) & (RING - 1)]; }
static struct send_wr *remote(struct own_qp *qp, int operation, uint32_t rkey, uint64_t addr) {
    struct send_wr *wr = build(qp, operation);
    wr->wr.rdma.addr = addr;
    wr->wr.rdma.rkey = rkey;
    return wr;
}
static void wr_atomic(struct own_qp *qp, int operation, uint32_t rkey, uint64_t addr, uint64_t a, uint64_t b) {
    struct send_wr *wr = remote(qp, operation, 0, addr);
    wr->wr.atomic.compare_add = a;
    wr->wr.atomic.swap = b;
    wr->wr.atomic.rkey = rkey;
}
static void wr_cas(struct own_qp *qp, uint32_t k, uint64_t r, uint64_t c, uint64_t s) { wr_atomic(qp, CMP_SWP, k, r, c, s); }
static void wr_faa(struct own_qp *qp, uint32_t k, uint64_t r, uint64_t a) { wr_atomic(qp, FETCH_ADD, k, r, a, 0); }
static void wr_bind(struct own_qp *qp, struct mw *mw, uint32_t rkey, struct bind_info *info) {
    CALL6(wr_bind_mw, mw, rkey, info->mr, info->addr, info->length, info->access);
    struct send_wr *wr = build(qp, BIND_MW);
    wr->more.bind.mw = mw;
    wr->more.bind.rkey = rkey;
}
static void wr_inv(struct own_qp *qp, uint32_t rkey) { CALL1(wr_local_inv, rkey); build(qp, LOCAL_INV); }
static void wr_read(struct own_qp *qp, uint32_t k, uint64_t r) { remote(qp, READ, k, r); }
static void wr_write(struct own_qp *qp, uint32_t k, uint64_t r) { remote(qp, WRITE, k, r); }
static void wr_write_imm(struct own_qp *qp, uint32_t k, uint64_t r, uint32_t i) { remote(qp, WRITE_IMM, k, r)->imm = i; }
static void wr_send(struct own_qp *qp) { build(qp, SEND); }
static void wr_send_imm(struct own_qp *qp, uint32_t imm) { build(qp, SEND_IMM)->imm = imm; }
static void wr_send_inv(struct own_qp *qp, uint32_t rkey) { build(qp, SEND_INV)->imm = rkey; }
static void wr_tso(struct own_qp *qp, void *header, uint16_t size, uint16_t mss) {
    CALL6(wr_send_tso, size, mss, *(unsigned char *) header, 0, 0, 0);
    build(qp, TSO);
}
static void set_ud(struct own_qp *qp, struct ah *ah, uint32_t qpn, uint32_t qkey) {
    last(qp)->wr.ud.ah = ah; last(qp)->wr.ud.qpn = qpn; last(qp)->wr.ud.qkey = qkey;
}
static void set_srqn(struct own_qp *qp, uint32_t n) { last(qp)->qp_type.xrc.srqn = n; }
static void set_inline(struct own_qp *qp, void *data, size_t length) {
    unsigned char *copy = qp->batch_data[(qp->batched - 1) & (RING - 1)];
    memcpy(copy, data, length < 64 ? length : 64);
    last(qp)->num_sge = 1;
    last(qp)->flags |= 8;
    last(qp)->sg_list[0] = (struct sge) {.addr = (uint64_t) copy, .length = length};
}
static void set_sges(struct own_qp *qp, size_t n, struct sge *sge) {
    last(qp)->num_sge = n < 4 ? n : 4;
    memcpy(last(qp)->sg_list, sge, sizeof *sge * (n < 4 ? n : 4));
}
static int complete(struct own_qp *qp) {
    CALL3(wr_complete, qp, qp->batched, 0);
    if ((unsigned) qp->batched > qp->max_send_wr) return ENOSPC; /* as rxe has it; and nothing of it is posted */
    for (int i = 0; i < qp->batched; i++) run(qp, &qp->batch[i], qp->batch[i].sg_list, qp->batch[i].opcode);
    return 0;
}
static void abort_batch(struct own_qp *qp) { qp->batched = 0; }
static void wr_atomic_write(struct own_qp *qp, uint32_t k, uint64_t r, uint64_t *value) {
    remote(qp, ATOMIC_WRITE, k, r)->wr.atomic.swap = *value;
}
static void wr_flush(struct own_qp *qp, uint32_t k, uint64_t r, size_t length, uint8_t type, uint8_t level) {
    CALL6(wr_flush, k, r, length, type, level, 0);
    remote(qp, FLUSH, k, r);
}

void mock_fill_qp_ex(struct own_qp *qp) {
    void *all[22] = {wr_cas, wr_faa, wr_bind, wr_inv, wr_read, wr_write, wr_write_imm, wr_send, wr_send_imm, wr_send_inv,
        wr_tso, set_ud, set_srqn, set_inline, NULL, NULL, set_sges, start, complete, abort_batch, wr_atomic_write,
        wr_flush};
    memcpy(qp->ex.function, all, sizeof all);
}

/* ---- what the calls themselves cost, for the benchmark: nanoseconds for n of them */

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ULL + t.tv_nsec;
}
uint64_t mock_time_post(struct qp *qp, struct send_wr *wr, uint64_t n) {
    int (*volatile post)(struct qp *, struct send_wr *, struct send_wr **) = mock_post_send;
    struct send_wr *bad;
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) post(qp, wr, &bad);
    return now() - begin;
}
uint64_t mock_time_post_recv(struct qp *qp, struct recv_wr *wr, uint64_t n) {
    int (*volatile post)(struct qp *, struct recv_wr *, struct recv_wr **) = mock_post_recv;
    struct recv_wr *bad;
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) post(qp, wr, &bad);
    return now() - begin;
}
uint64_t mock_time_post_and_poll(struct qp *qp, struct send_wr *wr, struct cq *cq, struct wc *wc, uint64_t n) {
    int (*volatile post)(struct qp *, struct send_wr *, struct send_wr **) = mock_post_send;
    int (*volatile poll)(struct cq *, int, struct wc *) = mock_poll_cq;
    struct send_wr *bad;
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) {
        post(qp, wr, &bad);
        poll(cq, 16, wc);
    }
    return now() - begin;
}
uint64_t mock_time_poll(struct cq *cq, struct wc *wc, uint64_t n) {
    int (*volatile poll)(struct cq *, int, struct wc *) = mock_poll_cq;
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) poll(cq, 16, wc);
    return now() - begin;
}

/* The functions of an object, by what they are called in C. */
enum { EX_START_POLL = 0, EX_END_POLL = 2, EX_BYTE_LEN = 5, EX_TIMESTAMP = 13 };
enum { EX_WRITE = 5, EX_SGES = 16, EX_START = 17, EX_COMPLETE = 18 };

static void wr_post(struct own_qp *qp, struct sge *sge, uint32_t rkey, uint64_t to, unsigned flags) {
    struct qp_ex *ex = &qp->ex;
    ((void (*)(struct own_qp *)) ex->function[EX_START])(qp);
    ex->wr_id = 1;
    ex->wr_flags = flags;
    ((void (*)(struct own_qp *, uint32_t, uint64_t)) ex->function[EX_WRITE])(qp, rkey, to);
    ((void (*)(struct own_qp *, size_t, struct sge *)) ex->function[EX_SGES])(qp, 1, sge);
    ((int (*)(struct own_qp *)) ex->function[EX_COMPLETE])(qp);
}
uint64_t mock_time_wr_post(struct own_qp *qp, struct sge *sge, uint32_t rkey, uint64_t to, uint64_t n) {
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) wr_post(qp, sge, rkey, to, 0);
    return now() - begin;
}
static int cursor(struct own_cq *cq) {
    uint64_t attr = 0;
    return ((int (*)(struct own_cq *, void *)) cq->ex.function[EX_START_POLL])(cq, &attr);
}
uint64_t mock_time_poll_ex(struct own_cq *cq, uint64_t n) {
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) cursor(cq);
    return now() - begin;
}
uint64_t mock_time_wr_post_and_poll(struct own_qp *qp, struct sge *sge, uint32_t rkey, uint64_t to, struct own_cq *cq,
        uint64_t n) {
    volatile uint64_t sum = 0;
    uint64_t begin = now();
    for (uint64_t i = 0; i < n; i++) {
        wr_post(qp, sge, rkey, to, SIGNALED);
        if (cursor(cq)) return 0; /* there is no completion */
        sum += cq->ex.status + ((uint64_t (*)(struct own_cq *)) cq->ex.function[EX_TIMESTAMP])(cq)
            + ((uint32_t (*)(struct own_cq *)) cq->ex.function[EX_BYTE_LEN])(cq);
        ((void (*)(struct own_cq *)) cq->ex.function[EX_END_POLL])(cq);
    }
    return now() - begin;
}
