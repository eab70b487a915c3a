// SPDX-License-Identifier: Apache-2.0
/* The exported verbs. */
#include "mock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *mock_make(size_t size);
int mock_destroy(void *object);
struct pd *mock_pd(struct context *c);
struct mr *mock_mr(struct pd *pd, void *addr, size_t length);
struct own_cq *mock_cq(struct context *c, int cqe, struct channel *channel);
struct srq *mock_srq(struct pd *pd, uint32_t *attr);
struct qp *mock_qp(struct pd *pd, char *attr);
void mock_device(unsigned char *a);
int mock_port(struct context *c, uint8_t port, unsigned char *a, size_t size);

/* 127.0.0.1 as a GID */
static const unsigned char gid[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

void ibv_free_device_list(void *list) { free(list); }
const char *ibv_get_device_name(struct device *d) { return d->name; }
uint64_t ibv_get_device_guid(struct device *d) { (void) d; return 0x0807060504030201ULL; }

int ibv_get_async_event(struct context *c, void *event) {
    CALL1(ibv_get_async_event, c);
    do {
        if (read(c->async_fd, event, 16) != 16) return -1;
    } while (((int *) event)[2] == MOCK_GONE);
    return 0;
}
void ibv_ack_async_event(void *event) { CALL1(ibv_ack_async_event, event); }

int ibv_query_device(struct context *c, unsigned char *a) { CALL1(ibv_query_device, c); mock_device(a); return 0; }
int ibv_query_port(struct context *c, uint8_t port, unsigned char *a) {
    CALL3(ibv_query_port, c, port, a);
    return mock_port(c, port, a, 48);
}
int ibv_query_gid(struct context *c, uint8_t port, int index, unsigned char *out) {
    CALL3(ibv_query_gid, c, port, index);
    if (index > 1) { errno = EINVAL; return -1; }
    memset(out, 0, 16);
    if (!index) memcpy(out, gid, 16);
    return 0;
}
int ibv_query_pkey(struct context *c, uint8_t port, int index, uint16_t *pkey) {
    CALL3(ibv_query_pkey, c, port, index);
    if (index) { errno = EINVAL; return -1; }
    *pkey = 0xfe7f; /* 0x7ffe in network order */
    return 0;
}

struct pd *ibv_alloc_pd(struct context *c) { CALL1(ibv_alloc_pd, c); return mock_pd(c); }
int ibv_dealloc_pd(struct pd *pd) { CALL1(ibv_dealloc_pd, pd); return mock_destroy(pd); }
struct mr *ibv_reg_mr(struct pd *pd, void *addr, size_t length, int access) {
    CALL6(ibv_reg_mr, pd, addr, length, access, 0, 0);
    return mock_mr(pd, addr, length);
}
/* The region and the window that were bound last. */
static struct mr *bound;
static struct mw *bound_to;
int ibv_dereg_mr(struct mr *mr) {
    CALL1(ibv_dereg_mr, mr);
    if (mr == bound) return EINVAL; /* as rxe has it */
    mock_mrs[mr->lkey & 0xff] = NULL;
    return mock_destroy(mr);
}

static struct channel *last_channel;
struct channel *ibv_create_comp_channel(struct context *c) {
    int ends[2];
    CALL1(ibv_create_comp_channel, c);
    if (pipe(ends)) return NULL;
    struct channel *ch = mock_make(sizeof *ch);
    *ch = (struct channel) {c, ends[0], ends[1]};
    last_channel = ch;
    return ch;
}
/* Makes the channel that was made last readable by an event that is gone before it is read, as its queue is. */
void mock_gone(void) {
    struct cq *none = NULL;
    if (write(last_channel->refcnt, &none, sizeof none) < 0) abort();
}
int ibv_destroy_comp_channel(struct channel *ch) {
    CALL1(ibv_destroy_comp_channel, ch);
    close(ch->fd);
    close(ch->refcnt);
    return mock_destroy(ch);
}
struct cq *ibv_create_cq(struct context *c, int cqe, void *user, struct channel *channel, int vector) {
    CALL6(ibv_create_cq, c, cqe, user, channel, vector, 0);
    return &mock_cq(c, cqe, channel)->ex.cq;
}
int ibv_resize_cq(struct cq *cq, int cqe) {
    CALL3(ibv_resize_cq, cq, cqe, 0);
    if (cqe < 3) return EINVAL; /* as if three completions were waiting */
    cq->cqe = cqe + 1;
    return 0;
}
int ibv_destroy_cq(struct cq *cq) {
    CALL1(ibv_destroy_cq, cq);
    if (cq->comp_events) return EBUSY; /* the real one would wait without end */
    return mock_destroy(cq);
}
int ibv_get_cq_event(struct channel *ch, struct cq **cq, void **user) {
    CALL1(ibv_get_cq_event, ch);
    do {
        if (read(ch->fd, cq, sizeof *cq) != sizeof *cq) return -1;
    } while (!*cq);
    *user = NULL;
    (*cq)->comp_events++;
    return 0;
}
void ibv_ack_cq_events(struct cq *cq, unsigned n) { CALL3(ibv_ack_cq_events, cq, n, 0); cq->comp_events -= n; }

#ifndef BROKEN
struct srq *ibv_create_srq(struct pd *pd, char *attr) {
    CALL6(ibv_create_srq, pd, *(int *) (attr + 8), *(int *) (attr + 12), *(int *) (attr + 16), 0, 0);
    return mock_srq(pd, (uint32_t *) (attr + 8));
}
#endif
int ibv_modify_srq(struct srq *s, uint32_t *attr, int mask) {
    CALL6(ibv_modify_srq, s, attr[0], attr[2], mask, 0, 0);
    struct own_srq *o = (struct own_srq *) s;
    if (mask & 1) o->max_wr = attr[0];
    if (mask & 2) o->limit = attr[2];
    return 0;
}
int ibv_query_srq(struct srq *s, uint32_t *attr) {
    struct own_srq *o = (struct own_srq *) s;
    attr[0] = o->max_wr; attr[1] = o->max_sge; attr[2] = o->limit;
    return 0;
}
int ibv_destroy_srq(struct srq *s) { CALL1(ibv_destroy_srq, s); return mock_destroy(s); }

struct qp *ibv_create_qp(struct pd *pd, char *attr) {
    CALL6(ibv_create_qp, pd, *(int *) (attr + 52), *(int *) (attr + 32), *(int *) (attr + 36), *(int *) (attr + 56), 0);
    return mock_qp(pd, attr);
}
static void copy(unsigned char *to, const unsigned char *from, int mask) {
    static const unsigned char at[][3] = {{2, 4, 4}, {3, 32, 4}, {4, 120, 2}, {5, 129, 1}, {6, 16, 4}, {7, 56, 32},
        {8, 8, 4}, {9, 130, 1}, {10, 131, 1}, {11, 132, 1}, {12, 20, 4}, {13, 126, 1}, {15, 128, 1}, {16, 24, 4},
        {17, 127, 1}, {18, 12, 4}, {20, 28, 4}};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++)
        if (mask & 1 << at[i][0]) memcpy(to + at[i][1], from + at[i][1], at[i][2]);
    if (mask & 1 << 14) { /* the other path */
        memcpy(to + 88, from + 88, 32);
        memcpy(to + 122, from + 122, 2);
        memcpy(to + 133, from + 133, 2);
    }
}
int ibv_modify_qp(struct qp *qp, unsigned char *attr, int mask) {
    struct own_qp *o = (struct own_qp *) qp;
    CALL6(ibv_modify_qp, qp, mask, *(int *) attr, *(int *) (attr + 28), attr[56 + 29], *(int *) (attr + 8));
    if (mask & 1 << 6 && *(int *) (attr + 16) == 0xbad) return EINVAL; /* a value that the device does not like */
    if (mask & 1) qp->state = *(int *) attr;
    copy(o->attr, attr, mask);
    return 0;
}
int ibv_query_qp(struct qp *qp, unsigned char *attr, int mask, void *init) {
    struct own_qp *o = (struct own_qp *) qp;
    CALL3(ibv_query_qp, qp, mask, init);
    memcpy(attr, o->attr, 144);
    *(int *) attr = qp->state;
    return 0;
}
static int attachments[64];
int ibv_destroy_qp(struct qp *qp) {
    CALL1(ibv_destroy_qp, qp);
    if (attachments[qp->qp_num & 63] > 0) {
        return EBUSY; /* as the kernel has it */
    }
    mock_qps[qp->qp_num & 63] = NULL;
    return mock_destroy(qp);
}
struct ah *ibv_create_ah(struct pd *pd, unsigned char *attr) {
    CALL6(ibv_create_ah, pd, attr[29], attr[30], attr[20], attr[21], *(uint64_t *) (attr + 8));
    struct ah *ah = mock_make(sizeof *ah);
    *ah = (struct ah) {pd->context, pd, 1};
    return ah;
}
int ibv_destroy_ah(struct ah *ah) { CALL1(ibv_destroy_ah, ah); return mock_destroy(ah); }
int ibv_attach_mcast(struct qp *qp, unsigned char *group, uint16_t lid) {
    CALL3(ibv_attach_mcast, qp, group[0], lid);
    attachments[qp->qp_num & 63]++;
    return 0;
}
int ibv_detach_mcast(struct qp *qp, unsigned char *group, uint16_t lid) {
    CALL3(ibv_detach_mcast, qp, group[0], lid);
    if (attachments[qp->qp_num & 63] == 0) {
        return EINVAL;
    }
    attachments[qp->qp_num & 63]--;
    return 0;
}

/* ---- windows, which are inline */

static struct mw *alloc_mw(struct pd *pd, int type) {
    CALL3(alloc_mw, pd, type, 0);
    struct own_mw *own = mock_make(sizeof *own);
    *own = (struct own_mw) {{pd->context, pd, 0x4200, 1, type}, 0x4200};
    return &own->mw;
}
static int dealloc_mw(struct mw *mw) {
    CALL1(dealloc_mw, mw);
    if (mw == bound_to) bound = NULL;
    return mock_destroy(mw);
}
static int bind_mw(struct qp *qp, struct mw *mw, struct mw_bind *b) {
    CALL6(bind_mw, qp, mw, b->wr_id, b->info.mr, b->info.length, b->info.access);
    ((struct own_mw *) mw)->key = ++mw->rkey;
    bound = b->info.length ? b->info.mr : NULL;
    bound_to = mw;
    mock_complete((struct own_cq *) qp->send_cq, (struct wc) {.wr_id = b->wr_id, .opcode = 5, .qp_num = qp->qp_num});
    return 0;
}
void mock_windows(struct context *c) {
    c->ops[7] = alloc_mw;
    c->ops[8] = bind_mw;
    c->ops[9] = dealloc_mw;
}

#ifndef WITHOUT_NEW
struct mr *ibv_reg_mr_iova(struct pd *pd, void *addr, size_t length, uint64_t iova, int access) {
    CALL6(ibv_reg_mr_iova, pd, addr, length, iova, access, 0);
    return mock_mr(pd, addr, length);
}
struct mr *ibv_reg_mr_iova2(struct pd *pd, void *addr, size_t length, uint64_t iova, unsigned access) {
    CALL6(ibv_reg_mr_iova2, pd, addr, length, iova, access, 0);
    return mock_mr(pd, addr, length);
}
struct mr *ibv_reg_dmabuf_mr(struct pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access) {
    CALL6(ibv_reg_dmabuf_mr, pd, offset, length, iova, fd, access);
    return mock_mr(pd, (void *) iova, length);
}
int ibv_rereg_mr(struct mr *mr, int flags, struct pd *pd, void *addr, size_t length, int access) {
    CALL6(ibv_rereg_mr, mr, flags, pd, addr, length, access);
    if (flags & 1) { mr->addr = addr; mr->length = length; }
    return 0;
}
struct qp_ex *ibv_qp_to_qp_ex(struct qp *qp) {
    return ((struct own_qp *) qp)->extended ? (struct qp_ex *) qp : NULL;
}
int ibv_query_ece(struct qp *qp, uint32_t *ece) {
    CALL1(ibv_query_ece, qp);
    ece[0] = 0x15b3; ece[1] = 0x77;
    return 0;
}
int ibv_set_ece(struct qp *qp, uint32_t *ece) { CALL3(ibv_set_ece, qp, ece[0], ece[1]); return 0; }
int _ibv_query_gid_ex(struct context *c, uint32_t port, uint32_t index, unsigned char *entry, uint32_t flags, size_t size) {
    CALL6(_ibv_query_gid_ex, c, port, index, flags, size, 0);
    if (index) return 61; /* ENODATA */
    memcpy(entry, gid, 16);
    uint32_t rest[] = {index, port, 2, 5};
    memcpy(entry + 16, rest, sizeof rest);
    return 0;
}
int ibv_query_qp_data_in_order(struct qp *qp, int op, uint32_t flags) {
    CALL3(ibv_query_qp_data_in_order, qp, op, flags);
    return flags ? 0 : op == 0; /* a library that does not know the flag */
}
#endif
