// SPDX-License-Identifier: Apache-2.0
/*
 * A libibverbs.so.1 without devices of its own: one device that loops back. What it pretends to be, the environment says:
 *
 * MOCK_DEVICES  how many devices (1); -1: the kernel has no RDMA
 * MOCK_SZ       the size of struct verbs_context (696)
 * MOCK_LEGACY   the context is not extended
 * MOCK_DUMMY    extended verbs are there and answer EOPNOTSUPP
 * MOCK_NO_OPEN  an errno: the device cannot be opened
 *
 * WITHOUT_NEW leaves out the symbols that came after the first version, BROKEN one that every library has.
 */
#include "mock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct record records[256];

struct record *mock_record(const char *name) {
    for (int i = 0; i < 256; i++) {
        if (!records[i].name) records[i].name = strdup(name); /* the caller's may not last */
        if (!strcmp(records[i].name, name)) return &records[i];
    }
    abort();
}
uint64_t mock_count(const char *name) { return mock_record(name)->count; }
uint64_t mock_argument(const char *name, int i) { return mock_record(name)->argument[i]; }

static long setting(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 0) : otherwise;
}

static uint32_t number(void) { static uint32_t last; return ++last; }
static void *fail(int error) { errno = error; return NULL; }
static int pipes[2], alive;
int mock_alive(void) { return alive; } /* objects that were not destroyed */
static void *make(size_t size) { alive++; return calloc(1, size); }
static int destroy(void *object) { alive--; memset(object, 0x5a, 8); free(object); return 0; }

/* ---- extended verbs */

static int unsupported(void) { return EOPNOTSUPP; }
static void *unsupported_pointer(void) { return fail(EOPNOTSUPP); }

static struct xrcd *open_xrcd(struct context *c, int *attr) {
    CALL6(open_xrcd, attr[0], attr[1], attr[2], 0, 0, 0);
    struct xrcd *x = make(sizeof *x);
    x->context = c;
    return x;
}
static int close_xrcd(struct xrcd *x) { CALL1(close_xrcd, x); return destroy(x); }

static struct srq *make_srq(struct context *c, struct pd *pd, uint32_t *attr) {
    struct own_srq *s = make(sizeof *s);
    s->srq = (struct srq) {.context = c, .pd = pd, .handle = number()};
    s->max_wr = attr[0] = attr[0] < 16 ? 16 : attr[0];
    s->max_sge = attr[1];
    mock_srqs[s->srq.handle & 63] = s;
    return &s->srq;
}
static struct srq *create_srq_ex(struct context *c, char *attr) {
    CALL6(create_srq_ex, *(int *) (attr + 20), *(int *) (attr + 24), *(void **) (attr + 32), *(void **) (attr + 40),
        *(void **) (attr + 48), 0);
    struct srq *s = make_srq(c, *(void **) (attr + 32), (uint32_t *) (attr + 8));
    ((struct own_srq *) s)->cq = *(void **) (attr + 48);
    return s;
}
static int get_srq_num(struct srq *s, uint32_t *n) { CALL1(get_srq_num, s); *n = s->handle; return 0; }

static struct qp *make_qp(struct context *c, struct pd *pd, char *attr, int extended) {
    struct own_qp *q = make(sizeof *q);
    uint32_t *cap = (uint32_t *) (attr + 32);
    q->ex.qp = (struct qp) {.context = c, .pd = pd, .send_cq = *(void **) (attr + 8), .recv_cq = *(void **) (attr + 16),
        .srq = *(void **) (attr + 24), .handle = number(), .type = *(int *) (attr + 52)};
    q->ex.qp.qp_num = 0x100 + (q->ex.qp.handle & 63);
    q->sig_all = *(int *) (attr + 56);
    q->max_send_wr = cap[0];
    if (cap[2] == 0) cap[2] = 1;
    q->max_inline = cap[4];
    mock_qps[q->ex.qp.qp_num & 63] = q;
    q->extended = extended;
    if (extended) mock_fill_qp_ex(q);
    return &q->ex.qp;
}
static struct qp *create_qp_ex(struct context *c, char *attr) {
    uint64_t operations = *(uint64_t *) (attr + 128);
    CALL6(create_qp_ex, *(int *) (attr + 60), *(void **) (attr + 64), *(void **) (attr + 72), *(int *) (attr + 80),
        operations, *(void **) (attr + 88));
    return make_qp(c, *(void **) (attr + 64), attr, operations != 0);
}
static struct qp *open_qp(struct context *c, char *attr) {
    char init[136] = {0};
    CALL6(open_qp, *(int *) attr, *(int *) (attr + 4), *(void **) (attr + 8), *(int *) (attr + 24), 0, 0);
    *(int *) (init + 52) = *(int *) (attr + 24);
    return make_qp(c, NULL, init, 0);
}
static struct flow *create_flow(struct qp *qp, unsigned char *attr) {
    uint16_t size = *(uint16_t *) (attr + 8);
    CALL6(create_flow, qp, *(int *) (attr + 4), size, attr[12], attr[13], *(int *) (attr + 16));
    struct flow *f = make(sizeof *f);
    f->context = qp->context;
    for (int at = 20; at < size; at += *(uint16_t *) (attr + at + 4)) {
        CALL6(flow_spec, *(int *) (attr + at), *(uint16_t *) (attr + at + 4), *(uint64_t *) (attr + at + 8), at, 0, 0);
        if (*(int *) (attr + at) == 0x1003) { /* count: two packets at once */
            struct counters *c = *(void **) (attr + at + 8);
            for (int i = 0; i < 8; i++) c->value[i] += c->describes[i] == 1 ? 2 : c->describes[i] == 2 ? 128 : 0;
        }
    }
    return f;
}
static int destroy_flow(struct flow *f) { CALL1(destroy_flow, f); return destroy(f); }

static void fill_device(unsigned char *a) {
    strcpy((char *) a, "mock 1.2.3");
    *(uint64_t *) (a + 64) = 0x0807060504030201ULL; /* network order */
    *(uint64_t *) (a + 80) = ~0ULL;
    *(uint64_t *) (a + 88) = 4096;
    uint32_t at[] = {96, 0x2c9, 100, 4129, 108, 64, 112, 1024, 116, 1u << 17 | 1u << 20 | 1u << 21 | 1u << 24, 120, 4, 128,
        64, 132, 1000, 136, 256, 140, 64, 144, 16, 156, 16, 164, 1, 176, 64, 188, 8, 192, 8, 196, 64, 200, 64, 212, 64,
        216, 512, 220, 4};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i += 2) *(uint32_t *) (a + at[i]) = at[i + 1];
    *(uint16_t *) (a + 224) = 1;
    a[227] = 1;
}
static int query_device_ex(struct context *c, void *input, unsigned char *a, size_t size) {
    CALL6(query_device_ex, c, input, a, size, 0, 0);
    if (size < 400) return EINVAL;
    fill_device(a);
    *(uint64_t *) (a + 240) = 1;
    *(uint64_t *) (a + 264) = ~0ULL;
    *(uint64_t *) (a + 272) = 1000000;
    *(uint64_t *) (a + 280) = *(uint32_t *) (a + 116) | 1ULL << 38 | 1ULL << 40; /* FLUSH_GLOBAL, ATOMIC_WRITE */
    *(uint32_t *) (a + 300) = 4;
    *(uint32_t *) (a + 304) = 128;
    *(uint32_t *) (a + 328) = 16;
    *(uint16_t *) (a + 368) = 100;
    *(uint16_t *) (a + 370) = 200;
    *(uint64_t *) (a + 376) = 4096;
    return 0;
}
static int query_rt_values(struct context *c, uint32_t *values) {
    CALL3(query_rt_values, c, values[0], 0);
    *(uint64_t *) (values + 2) = 0;
    *(uint64_t *) (values + 4) = 987654321;
    return 0;
}
static struct own_cq *make_cq(struct context *c, int cqe, struct channel *channel) {
    struct own_cq *q = make(sizeof *q);
    q->ex.cq = (struct cq) {.context = c, .channel = channel, .handle = number(), .cqe = cqe < 31 ? 31 : cqe};
    return q;
}
static struct cq_ex *create_cq_ex(struct context *c, char *attr) {
    CALL6(create_cq_ex, *(int *) attr, *(uint64_t *) (attr + 32), *(int *) (attr + 40), *(int *) (attr + 44),
        *(void **) (attr + 48), *(void **) (attr + 16));
    if (*(int *) (attr + 44) & 2) return fail(EOPNOTSUPP); /* IGNORE_OVERRUN, as rxe */
    struct own_cq *q = make_cq(c, *(int *) attr, *(void **) (attr + 16));
    q->fields = *(uint64_t *) (attr + 32);
    mock_fill_cq_ex(q);
    return &q->ex;
}
static int modify_cq(struct cq *cq, char *a) {
    CALL6(modify_cq, cq, *(int *) a, *(uint16_t *) (a + 4), *(uint16_t *) (a + 6), 0, 0);
    return 0;
}
static struct wq *create_wq(struct context *c, char *a) {
    CALL6(create_wq, *(int *) (a + 8), *(int *) (a + 12), *(int *) (a + 16), *(void **) (a + 24), *(void **) (a + 32), 0);
    struct own_wq *q = make(sizeof *q);
    memset(&q->wq.mutex, 0x5a, sizeof q->wq.mutex); /* the caller has to initialise it */
    q->wq.context = c;
    q->wq.wq_num = number();
    q->wq.post_recv = mock_post_wq_recv;
    return &q->wq;
}
static int modify_wq(struct wq *q, uint32_t *a) { CALL6(modify_wq, q, a[0], a[1], a[2], a[3], a[4]); return 0; }
static int destroy_wq(struct wq *q) { CALL3(destroy_wq, q, pthread_mutex_lock(&q->mutex), 0); return destroy(q); }
struct table { struct context *context; int handle, number; uint32_t comp_mask; };
static struct table *create_table(struct context *c, char *a) {
    struct wq **entries = *(void **) (a + 8);
    CALL6(create_rwq_ind_table, *(int *) a, entries[0], entries[(1 << *(int *) a) - 1], 0, 0, 0);
    struct table *t = make(sizeof *t);
    t->context = c;
    t->number = number();
    return t;
}
static struct pd *make_pd(struct context *c) {
    struct pd *pd = make(sizeof *pd);
    *pd = (struct pd) {c, number()};
    return pd;
}
static void *alloc_td(struct context *c, void *attr) { CALL3(alloc_td, c, attr, 0); return make(16); }
static struct pd *alloc_parent_domain(struct context *c, void **attr) {
    CALL6(alloc_parent_domain, c, attr[0], attr[1], 0, 0, 0);
    return make_pd(c);
}
static int modify_qp_rate_limit(struct qp *qp, uint32_t *a) {
    CALL6(modify_qp_rate_limit, qp, a[0], a[1], a[2] & 0xffff, 0, 0);
    return 0;
}
static int memcpy_to(struct dm *dm, uint64_t at, void *from, size_t n) { memcpy(dm->data + at, from, n); return 0; }
static int memcpy_from(void *to, struct dm *dm, uint64_t at, size_t n) { memcpy(to, dm->data + at, n); return 0; }
static struct dm *alloc_dm(struct context *c, char *a) {
    CALL3(alloc_dm, *(uint64_t *) a, *(int *) (a + 8), 0);
    if (*(uint64_t *) a > 4096) return fail(ENOMEM);
    struct dm *dm = make(sizeof *dm);
    *dm = (struct dm) {.context = c, .memcpy_to = memcpy_to, .memcpy_from = memcpy_from};
    return dm;
}
static struct mr *make_mr(struct pd *pd, void *addr, size_t length) {
    static uint32_t next;
    struct mr *mr = make(sizeof *mr);
    next++;
    uint32_t key = next * 256 + (next & 0xff);
    *mr = (struct mr) {.context = pd->context, .pd = pd, .addr = addr, .length = length, .lkey = key, .rkey = key};
    return mock_mrs[key & 0xff] = mr;
}
static struct mr *reg_dm_mr(struct pd *pd, struct dm *dm, uint64_t offset, size_t length, unsigned access) {
    CALL6(reg_dm_mr, pd, dm, offset, length, access, 0);
    return make_mr(pd, dm->data + offset, length);
}
static struct mr *alloc_null_mr(struct pd *pd) { CALL1(alloc_null_mr, pd); return make_mr(pd, NULL, 0); }
static int advise_mr(struct pd *pd, int advice, uint32_t flags, struct sge *sge, uint32_t n) {
    CALL6(advise_mr, pd, advice, flags, sge[n - 1].length, n, sge[0].addr);
    return 0;
}
static struct counters *create_counters(struct context *c, void *attr) {
    CALL3(create_counters, c, attr, 0);
    struct counters *k = make(sizeof *k);
    k->context = c;
    return k;
}
static int attach_counters(struct counters *k, uint32_t *a, struct flow *f) {
    CALL6(attach_counters_point_flow, k, a[0], a[1], f, 0, 0);
    if (f) return ENOTSUP; /* as the one driver that has counters */
    k->describes[a[1] & 7] = a[0] + 1;
    return 0;
}
static int read_counters(struct counters *k, uint64_t *out, uint32_t n, uint32_t flags) {
    CALL6(read_counters, k, out, n, flags, 0, 0);
    for (uint32_t i = 0; i < n; i++) out[i] = i < 8 ? k->value[i] : 0;
    return 0;
}
static int query_port(struct context *c, uint8_t port, unsigned char *a, size_t size) {
    CALL6(query_port, c, port, size, 0, 0, 0);
    if (port != 1) return EINVAL;
    uint32_t words[] = {4, 5, 3, 2, 0x1234, 1u << 30};
    memcpy(a, words, sizeof words);
    *(uint16_t *) (a + 32) = 1;
    a[46] = 2;
    if (size >= 50) *(uint16_t *) (a + 48) = 0x77;
    return 0;
}
static int destroyed(void *object) { CALL1(destroyed, object); return destroy(object); }

/* ---- exported verbs that make the context; the rest is in mock_verbs.c */

static struct device devices[4];

struct device **ibv_get_device_list(int *n) {
    long count = setting("MOCK_DEVICES", 1);
    CALL1(ibv_get_device_list, n);
    if (n) *n = count < 0 ? 0 : count;
    if (count < 0) return fail(ENOSYS);
    struct device **list = calloc(count + 1, sizeof *list);
    for (long i = 0; i < count; i++) {
        devices[i].node_type = 1;
        strcpy(devices[i].name, "mock0");
        devices[i].name[4] += i;
        list[i] = &devices[i];
    }
    return list;
}

struct context *ibv_open_device(struct device *d) {
    CALL1(ibv_open_device, d);
    if (setting("MOCK_NO_OPEN", 0)) return fail(setting("MOCK_NO_OPEN", 0));
    struct extended *e = make(sizeof *e);
    struct context *c = &e->context;
    void **slot = e->slot + SLOTS + 1; /* slot[-n] */
    if (pipe(pipes)) return fail(EMFILE);
    c->device = d;
    c->async_fd = pipes[0];
    c->num_comp_vectors = 2;
    c->ops[11] = mock_poll_cq;
    c->ops[12] = mock_req_notify_cq;
    c->ops[20] = mock_post_srq_recv;
    c->ops[25] = mock_post_send;
    c->ops[26] = mock_post_recv;
    extern void mock_windows(struct context *c);
    mock_windows(c);
    if (setting("MOCK_LEGACY", 0)) { /* code that reads below the context all the same finds a trap */
        for (int n = 2; n <= SLOTS; n++) slot[-n] = (void *) 1;
        return c;
    }
    c->abi_compat = (void *) ~0ULL;
    long sz = setting("MOCK_SZ", 696);
    slot[-1] = (void *) sz;
    void *all[] = {[3] = close_xrcd, open_xrcd, create_srq_ex, get_srq_num, create_qp_ex, open_qp, NULL, create_flow, NULL,
        destroy_flow, query_device_ex, (void *) 1, create_cq_ex, query_rt_values, create_wq, modify_wq, destroy_wq,
        create_table, destroyed, NULL, modify_cq, alloc_td, destroyed, alloc_parent_domain, modify_qp_rate_limit, NULL,
        NULL, NULL, destroyed, alloc_dm, reg_dm_mr, destroyed, create_counters, attach_counters, read_counters,
        alloc_null_mr, advise_mr, query_port};
    static const char pointers[] = {4, 5, 7, 8, 10, 15, 17, 20, 24, 26, 32, 33, 35, 38};
    for (int n = 3; n <= SLOTS; n++) {
        int there = n < (int) (sizeof all / sizeof *all) && sz >= (long) sizeof *c + 8 * n;
        slot[-n] = there ? all[n] : (void *) 1; /* a trap */
        if (there && n != 40 && setting("MOCK_DUMMY", 0)) /* query_port is the library's own */
            slot[-n] = memchr(pointers, n, sizeof pointers) ? (void *) unsupported_pointer : (void *) unsupported;
    }
    return c;
}

int ibv_close_device(struct context *c) {
    CALL1(ibv_close_device, c);
    close(pipes[0]);
    close(pipes[1]);
    return destroy((char *) c - offsetof(struct extended, context));
}

void mock_raise(int type, void *element) {
    struct { void *element; int type; } event = {element, type};
    if (write(pipes[1], &event, sizeof event) < 0) abort();
}
void *mock_make(size_t size) { return make(size); }
int mock_destroy(void *object) { return destroy(object); }
struct pd *mock_pd(struct context *c) { return make_pd(c); }
struct mr *mock_mr(struct pd *pd, void *addr, size_t length) { return make_mr(pd, addr, length); }
struct own_cq *mock_cq(struct context *c, int cqe, struct channel *channel) { return make_cq(c, cqe, channel); }
struct srq *mock_srq(struct pd *pd, uint32_t *attr) { return make_srq(pd->context, pd, attr); }
struct qp *mock_qp(struct pd *pd, char *attr) { return make_qp(pd->context, pd, attr, 0); }
void mock_device(unsigned char *a) { fill_device(a); }
int mock_port(struct context *c, uint8_t port, unsigned char *a, size_t size) { return query_port(c, port, a, size); }
