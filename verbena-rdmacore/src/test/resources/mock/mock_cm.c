// SPDX-License-Identifier: Apache-2.0
/*
 * A librdmacm.so.1 without a network: an identifier that connects meets one of the same process that listens, by its port.
 * What it pretends to be, the environment says:
 *
 * MOCK_CM_NO_CHANNEL  an errno: there is no event channel
 * MOCK_CM_NO_ID       an errno, or 0: NULL without one
 * MOCK_CM_FAIL        the number of an event that comes in place of a response, MOCK_CM_STATUS with it
 * MOCK_CM_STRANGE     events of no identifier, of an unknown kind and without data come first
 * MOCK_CM_OTHER       addresses are those of another device
 *
 * WITHOUT_NEW leaves out the symbols that came after the first version.
 */
#include "mock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct conn {
    const void *private_data;
    uint8_t private_data_len, responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count, srq;
    uint32_t qp_num;
};
struct cm_channel { int fd; };
struct cm_id {
    void **verbs;
    struct cm_channel *channel;
    void *context, *qp;
    unsigned char src[128], dst[128];
    unsigned char more[256];
    struct cm_id *peer;
    int listens;
    uint16_t port;
    struct conn conn;
};
struct cm_event { struct cm_id *id, *listen_id; int event, status; struct conn conn; uint64_t more[8]; };
struct queued { struct cm_event event; struct cm_channel *channel; unsigned char data[256]; struct queued *next; };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct queued *first;
static struct cm_id *ids[256];
static int alive;
static uint16_t next_port = 40000;
int mock_cm_alive(void) { return alive; }

static long setting(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 0) : otherwise;
}
static int fail(int error) { errno = error; return -1; }

/* The name of the one device, behind what a context begins with. */
static struct device mock_device = {.name = "mock0", .dev_name = "uverbs0"};
static struct device other_device = {.name = "other0", .dev_name = "uverbs1"};
static void *verbs[1];

static void raise_event(struct cm_channel *c, struct cm_id *id, struct cm_id *listen, int type, int status,
    const struct conn *conn) {
    struct queued *q = calloc(1, sizeof *q), **end = &first;
    q->event = (struct cm_event) {.id = id, .listen_id = listen, .event = type, .status = status};
    q->channel = c;
    if (conn) {
        q->event.conn = *conn;
        if (conn->private_data) memcpy(q->data, conn->private_data, conn->private_data_len);
        q->event.conn.private_data = conn->private_data ? q->data : NULL;
    }
    while (*end) end = &(*end)->next;
    *end = q;
    if (write(c->fd, &(uint64_t) {1}, 8) != 8) abort();
}

struct cm_channel *rdma_create_event_channel(void) {
    long error = setting("MOCK_CM_NO_CHANNEL", -1);
    if (error >= 0) { errno = error; return NULL; }
    struct cm_channel *c = calloc(1, sizeof *c);
    c->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    alive++;
    if (setting("MOCK_CM_STRANGE", 0)) {
        raise_event(c, NULL, NULL, 4, 0, NULL);
        raise_event(c, NULL, NULL, 12345, -1, &(struct conn) {.private_data_len = 255});
        raise_event(c, NULL, NULL, 9, 0, &(struct conn) {.private_data_len = 255});
    }
    return c;
}
void rdma_destroy_event_channel(struct cm_channel *c) { close(c->fd); free(c); alive--; }

int rdma_get_cm_event(struct cm_channel *c, struct cm_event **out) {
    uint64_t one;
    if (read(c->fd, &one, 8) != 8) return -1;
    pthread_mutex_lock(&mutex);
    struct queued **q = &first, *found;
    while (*q && (*q)->channel != c) q = &(*q)->next;
    found = *q;
    if (found) *q = found->next;
    pthread_mutex_unlock(&mutex);
    if (!found) return fail(EAGAIN); /* its identifier is gone */
    *out = &found->event;
    return 0;
}
int rdma_ack_cm_event(struct cm_event *e) { free(e); return 0; }

static struct cm_id *new_id(struct cm_channel *c, void *context) {
    struct cm_id *id = calloc(1, sizeof *id);
    id->channel = c;
    id->context = context;
    alive++;
    for (int i = 0; i < 256; i++)
        if (!ids[i]) { ids[i] = id; return id; }
    abort();
}
int rdma_create_id(struct cm_channel *c, struct cm_id **out, void *context, int ps) {
    CALL3(rdma_create_id, c, context, ps);
    long error = setting("MOCK_CM_NO_ID", -1);
    if (error > 0) return fail(error);
    pthread_mutex_lock(&mutex);
    *out = error == 0 ? NULL : new_id(c, context);
    pthread_mutex_unlock(&mutex);
    return 0;
}
int rdma_destroy_id(struct cm_id *id) {
    pthread_mutex_lock(&mutex);
    for (struct queued **q = &first; *q;) {
        if ((*q)->event.id == id || (*q)->event.listen_id == id) {
            struct queued *gone = *q;
            *q = gone->next;
            free(gone);
        } else q = &(*q)->next;
    }
    for (int i = 0; i < 256; i++) {
        if (ids[i] == id) ids[i] = NULL;
        else if (ids[i] && ids[i]->peer == id) {
            ids[i]->peer = NULL;
            raise_event(ids[i]->channel, ids[i], NULL, 10, 0, NULL);
        }
    }
    pthread_mutex_unlock(&mutex);
    memset(id, 0x5a, sizeof *id);
    free(id);
    alive--;
    return 0;
}
static uint16_t port_of(const unsigned char *sockaddr) { return sockaddr[2] << 8 | sockaddr[3]; }
static void bound(struct cm_id *id) {
    verbs[0] = setting("MOCK_CM_OTHER", 0) ? &other_device : &mock_device;
    id->verbs = verbs;
}
static int address(unsigned char *to, const unsigned char *from) {
    int family = from[0] | from[1] << 8;
    memcpy(to, from, family == 2 ? 16 : 28);
    return family;
}
static int is_any(const unsigned char *a) {
    static const unsigned char none[16];
    return (a[0] | a[1] << 8) == 2 ? !memcmp(a + 4, none, 4) : !memcmp(a + 8, none, 16);
}
int rdma_bind_addr(struct cm_id *id, unsigned char *a) {
    uint16_t port = port_of(a);
    if (a[0] == 2 && a[4] == 192) return fail(EADDRNOTAVAIL); /* 192.0.2.1, which is unassigned */
    for (int i = 0; i < 256; i++)
        if (port && ids[i] && ids[i]->listens && ids[i]->port == port)
            return fail(is_any(a) || is_any(ids[i]->src) ? EADDRNOTAVAIL : EADDRINUSE); /* as Linux does */
    address(id->src, a);
    id->port = port ? port : next_port++;
    bound(id);
    return 0;
}
int rdma_listen(struct cm_id *id, int backlog) { CALL3(rdma_listen, id, backlog, 0); id->listens = 1; return 0; }
uint16_t rdma_get_src_port(struct cm_id *id) { return id->port >> 8 | id->port << 8; }
int rdma_resolve_addr(struct cm_id *id, void *from, unsigned char *to, int millis) {
    CALL3(rdma_resolve_addr, id, from, millis);
    if (to[0] == 2 && to[4] == 192) { raise_event(id->channel, id, NULL, 1, -ENODEV, NULL); return 0; }
    address(id->dst, to);
    bound(id);
    raise_event(id->channel, id, NULL, 0, 0, NULL);
    return 0;
}
int rdma_resolve_route(struct cm_id *id, int millis) {
    CALL3(rdma_resolve_route, id, millis, 0);
    raise_event(id->channel, id, NULL, 2, 0, NULL);
    return 0;
}
int rdma_connect(struct cm_id *id, struct conn *conn) {
    pthread_mutex_lock(&mutex);
    CALL6(rdma_connect, id, conn->private_data_len, conn->responder_resources, conn->retry_count, conn->rnr_retry_count,
        conn->qp_num);
    long instead = setting("MOCK_CM_FAIL", -1);
    struct cm_id *listener = NULL;
    for (int i = 0; i < 256; i++)
        if (ids[i] && ids[i]->listens && ids[i]->port == port_of(id->dst)) listener = ids[i];
    id->conn = *conn;
    if (instead >= 0) raise_event(id->channel, id, NULL, instead, setting("MOCK_CM_STATUS", 0), NULL);
    else if (!listener) raise_event(id->channel, id, NULL, 8, 8, NULL);
    else {
        struct cm_id *child = new_id(listener->channel, listener->context);
        child->verbs = verbs;
        memcpy(child->dst, id->dst, sizeof child->dst);
        child->peer = id;
        child->conn = *conn;
        id->peer = child;
        raise_event(listener->channel, child, listener, 4, 0, conn);
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}
int rdma_accept(struct cm_id *id, struct conn *conn) {
    int result = 0;
    pthread_mutex_lock(&mutex);
    CALL6(rdma_accept, id, conn->private_data_len, conn->responder_resources, conn->initiator_depth, conn->srq,
        conn->qp_num);
    if (!id->peer) result = fail(EINVAL);
    else {
        uint32_t own = conn->qp_num;
        id->peer->conn.qp_num = own;
        id->peer->conn.rnr_retry_count = conn->rnr_retry_count;
        raise_event(id->peer->channel, id->peer, NULL, 5, 0, conn);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}
int rdma_reject(struct cm_id *id, const void *data, uint8_t length) {
    pthread_mutex_lock(&mutex);
    CALL3(rdma_reject, id, data, length);
    if (id->peer) {
        raise_event(id->peer->channel, id->peer, NULL, 8, 28, &(struct conn) {.private_data = data,
            .private_data_len = length});
        id->peer->peer = NULL;
        id->peer = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}
int rdma_disconnect(struct cm_id *id) {
    pthread_mutex_lock(&mutex);
    CALL1(rdma_disconnect, id);
    struct cm_id *peer = id->peer;
    if (peer) {
        id->peer = peer->peer = NULL;
        raise_event(peer->channel, peer, NULL, 10, 0, NULL);
        raise_event(id->channel, id, NULL, 10, 0, NULL);
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}
#ifndef WITHOUT_NEW
/* Offsets of struct ibv_qp_attr as in Layout; the masks of RC. */
int rdma_init_qp_attr(struct cm_id *id, unsigned char *attr, int *mask) {
    int state = *(int *) attr;
    if (state != 1 && !id->peer) return fail(EINVAL);
    *(uint16_t *) (attr + 120) = 0;
    attr[129] = 1;
    *mask = 1;
    if (state == 1) *mask = 1 | 8 | 16 | 32;
    if (state == 2) {
        *mask = 1 | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 12 | 1 << 17 | 1 << 15;
        attr[56 + 10] = attr[56 + 11] = 0xff;
        attr[56 + 12] = 127;
        attr[56 + 15] = 1;
        attr[56 + 29] = 1;
        attr[56 + 30] = 1;
        *(int *) (attr + 8) = 3;
        *(uint32_t *) (attr + 28) = id->conn.qp_num;
        attr[127] = 4;
    }
    if (state == 3) { *mask = 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 | 1 << 16; attr[126] = 4; attr[130] = 14;
        attr[131] = id->conn.retry_count; attr[132] = id->conn.rnr_retry_count; }
    return 0;
}
int rdma_establish(struct cm_id *id) {
    pthread_mutex_lock(&mutex);
    CALL1(rdma_establish, id);
    if (id->peer) raise_event(id->peer->channel, id->peer, NULL, 9, 0, NULL);
    pthread_mutex_unlock(&mutex);
    return 0;
}
#endif
