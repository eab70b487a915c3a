// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** The sender's end of one connection: sends all files of a plan, one after the other. Used by one thread. */
final class CopySender {
    private final CopyChannel channel;
    private final CopyPlan plan;
    private final CopyProgress progress;
    private final CopyReport report;
    private final Map<Integer, CopySent> pending = new HashMap<>();
    private int lastId;
    private int pendingFiles;
    private int ended;
    private boolean byeSent;
    private boolean goodbye;
    private @Nullable CopySent current;

    CopySender(CopyChannel channel, CopyPlan plan, CopyProgress progress, CopyReport report) {
        this.channel = channel;
        this.plan = plan;
        this.progress = progress;
        this.report = report;
    }

    /**
     * Sends everything; failures are reported file by file, and a failure that ends the connection is thrown as well.
     */
    void run() throws CopyFailure {
        try {
            for (CopyPlan.Entry e : plan.entries()) {
                send(e);
                ended++;
            }
            channel.send(new CopyMessage.Bye());
            byeSent = true;
            while (!goodbye) {
                handle(channel.next());
            }
            if (!pending.isEmpty()) {
                throw CopyFailure.protocol("a good-bye before the result of every file");
            }
        } catch (CopyFailure e) {
            reportRest(e);
            throw e;
        }
    }

    private void reportRest(CopyFailure why) {
        try { // results that arrived before the end count
            for (CopyMessage m = channel.poll(); m != null; m = channel.poll()) {
                handle(m);
            }
        } catch (CopyFailure e) {
            why.addSuppressed(e);
        }
        for (CopySent s : pending.values()) {
            report.add(new CopyReport.Outcome(s.entry.name(), s.entry.directory(), s.size, 0, null, 0, why.status(),
                    why.sentence()));
        }
        CopySent c = current;
        int from = ended + (c != null ? 1 : 0);
        for (CopyPlan.Entry e : plan.entries().subList(Math.min(from, plan.entries().size()), plan.entries().size())) {
            report.add(CopyReport.Outcome.notCopied(e, why));
        }
    }

    private void send(CopyPlan.Entry entry) throws CopyFailure {
        current = null;
        while (pendingFiles >= CopyProtocol.RESULTS_AHEAD) {
            handle(channel.next());
        }
        try {
            if (entry.target().length() > CopyProtocol.MAX_PATH) {
                throw new CopyFailure(CopyStatus.FAILED, "the path is longer than " + CopyProtocol.MAX_PATH + " bytes");
            }
            String notKept = CopySource.notKept(entry.source());
            if (!notKept.isEmpty()) {
                report.addNotKept(entry.name(), notKept);
                progress.line(entry.name() + ": its mode's " + notKept
                        + " is not kept, set it at the target if it is wanted");
            }
            if (entry.directory()) {
                directory(entry);
            } else {
                try (CopySource source = CopySource.open(entry.source())) {
                    file(entry, source);
                }
            }
        } catch (IOException e) {
            CopyFailure f = CopyFailure.of("cannot read", e);
            if (f.status().isFatal()) {
                throw f;
            }
            ended(CopyReport.Outcome.notCopied(entry, f));
        }
        for (CopyMessage m = channel.poll(); m != null; m = channel.poll()) {
            handle(m);
        }
    }

    private CopySent add(CopyPlan.Entry entry, long size) {
        CopySent s = new CopySent(++lastId, entry, size);
        pending.put(s.id, s);
        current = s;
        return s;
    }

    private void directory(CopyPlan.Entry entry) throws IOException {
        Instant modified = Files.getLastModifiedTime(entry.source()).toInstant();
        int mode = CopySource.mode(entry.source());
        channel.send(new CopyMessage.Directory(add(entry, 0).id, mode, modified, entry.target()));
    }

    private void file(CopyPlan.Entry entry, CopySource source) throws IOException {
        CopyMessage.File message = source.describe(lastId + 1, entry.target());
        CopySent s = add(entry, source.size());
        pendingFiles++;
        channel.send(message);
        while (s.offer == null && s.grant == null && s.result == null) {
            handle(channel.next());
        }
        if (s.offer == null && s.grant == null) {
            return; // refused
        }
        try {
            if (transfer(s, source)) {
                source.checkUnchanged();
                s.endSent = true;
                channel.send(new CopyMessage.End(s.id, s.hash.value()));
                return;
            }
        } catch (IOException e) {
            CopyFailure f = CopyFailure.of("cannot read", e);
            if (f.status().isFatal()) {
                throw f;
            }
            s.failure = f;
        }
        cancel(s);
    }

    private void cancel(CopySent s) throws CopyFailure {
        CopyMessage.Result r = s.result;
        CopyFailure f = s.failure;
        CopyStatus status = r != null ? r.status() : f != null ? f.status() : CopyStatus.FAILED;
        channel.send(new CopyMessage.Cancel(s.id, status, f != null ? f.sentence() : ""));
    }

    /** Transfers the bytes; false if the listener has abandoned the file. */
    private boolean transfer(CopySent s, CopySource source) throws IOException {
        CopyMessage.Offer offer = s.offer;
        if (offer != null) {
            if (offer.prefix() < 1 || offer.prefix() > s.size || offer.prefix() % CopyProtocol.CHUNK != 0) {
                throw CopyFailure.protocol("an offer of " + offer.prefix() + " bytes");
            }
            while (source.hash(s.hash, offer.prefix()) > 0) {
                channel.tick();
            }
            channel.send(new CopyMessage.Prefix(s.id, s.hash.value()));
        }
        CopyMessage.Grant grant = awaitGrant(s);
        if (grant != null && grant.offset() == 0) {
            s.hash.reset(); // the listener's part is not the start of this file
        }
        s.resumedFrom = s.hash.position();
        s.verified = s.resumedFrom;
        progress.skip(s.resumedFrom);
        while (grant != null) {
            check(grant, s);
            if (!write(grant, s, source)) {
                return false;
            }
            if (s.hash.position() == s.size) {
                return true;
            }
            grant = awaitGrant(s);
        }
        return false;
    }

    private CopyMessage.@Nullable Grant awaitGrant(CopySent s) throws CopyFailure {
        while (s.grant == null && s.result == null) {
            handle(channel.next());
        }
        CopyMessage.Grant g = s.grant;
        s.grant = null;
        return g;
    }

    private static void check(CopyMessage.Grant g, CopySent s) throws CopyFailure {
        long left = s.size - s.hash.position();
        boolean whole = g.length() % CopyProtocol.CHUNK == 0 || g.length() == left;
        if (g.offset() != s.hash.position() || g.length() > left || !whole || (g.length() == 0 && left > 0)) {
            throw CopyFailure.protocol("a window of " + g.length() + " bytes at " + g.offset() + " where "
                    + s.hash.position() + " is due of " + s.size);
        }
    }

    private boolean write(CopyMessage.Grant g, CopySent s, CopySource source) throws IOException {
        long end = g.offset() + g.length();
        while (s.hash.position() < end) {
            long at = s.hash.position();
            while (at - s.verified >= (long) CopyProtocol.CHUNKS_AHEAD * CopyProtocol.CHUNK && s.result == null) {
                handle(channel.next());
            }
            if (s.result != null) {
                return false;
            }
            int length = (int) Math.min(CopyProtocol.CHUNK, end - at);
            int buffer = channel.takeChunk();
            ByteBuffer bytes = channel.chunkBuffer(buffer).limit(length);
            try {
                source.read(bytes, at);
            } catch (IOException e) {
                channel.returnChunk(buffer);
                throw e;
            }
            s.hash.update(bytes.flip());
            channel.write(buffer, length, g.rkey(), g.address() + (at - g.offset()), (int) (at / CopyProtocol.CHUNK));
            progress.moved(length, s.entry.name());
            for (CopyMessage m = channel.poll(); m != null; m = channel.poll()) {
                handle(m);
            }
        }
        return true;
    }

    private void handle(CopyMessage message) throws CopyFailure {
        switch (message) {
            case CopyMessage.Offer m -> current(m.id()).offer = m;
            case CopyMessage.Grant m -> current(m.id()).grant = m;
            case CopyMessage.Progress m -> {
                CopySent s = known(m.id());
                if (m.verified() < s.verified || m.verified() > s.hash.position()) {
                    throw CopyFailure.protocol("progress to " + m.verified() + " after " + s.verified);
                }
                s.verified = m.verified();
            }
            case CopyMessage.Result m -> result(known(m.id()), m);
            case CopyMessage.Goodbye _ when byeSent -> goodbye = true;
            default -> throw CopyFailure.protocol("a message that only a sender sends");
        }
    }

    private CopySent current(int id) throws CopyFailure {
        CopySent s = current;
        if (s == null || s.id != id) {
            throw CopyFailure.protocol("a message for file " + id + ", which is not on its way");
        }
        return s;
    }

    private CopySent known(int id) throws CopyFailure {
        CopySent s = pending.get(id);
        if (s == null) {
            throw CopyFailure.protocol("a message for file " + id + ", which is not on its way");
        }
        return s;
    }

    private void result(CopySent s, CopyMessage.Result m) throws CopyFailure {
        if (m.status() == CopyStatus.OK && !s.endSent && !s.entry.directory()) {
            throw CopyFailure.protocol("success before the end of a file");
        }
        pending.remove(s.id);
        pendingFiles -= s.entry.directory() ? 0 : 1;
        s.result = m;
        CopyFailure own = s.failure;
        boolean good = m.status() == CopyStatus.OK;
        String text = own != null ? own.sentence() : m.text();
        ended(new CopyReport.Outcome(s.entry.name(), s.entry.directory(), s.size, (System.nanoTime() - s.started) / 1e9,
                good ? s.hash.value().hex() : null, s.resumedFrom, own != null ? own.status() : m.status(), text));
    }

    private void ended(CopyReport.Outcome o) {
        report.add(o);
        progress.ended(o);
    }
}
