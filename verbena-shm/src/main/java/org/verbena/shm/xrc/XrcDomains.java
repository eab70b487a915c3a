// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.xrc;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ProcUnix;
import org.verbena.linux.Sys;
import org.verbena.linux.UnixSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.verbs.VerbsException;

/**
 * The XRC domains that a context has open. A domain is identified by its {@link Key}, and exists as long as some context of
 * this user has bound an abstract Unix name for it; the kernel removes the names of a process that ends. Safe for use
 * by several threads.
 */
public final class XrcDomains {
    private static final String NAMES = "verbena-xrcd/";
    /** The timeout for another process that opens or creates the domain, which takes no other step meanwhile. */
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long instance;
    /** Held to open a domain for the first time, perhaps during a wait for another process, while the engine needs the map. */
    private final Object opening = new Object();
    /** Guarded by itself. */
    private final Map<Key, Open> domains = new HashMap<>();
    private long privateDomains;

    /**
     * Names a domain: device and inode of a file, or a context and a number for one that no other process can open.
     */
    public record Key(long high, long low) {
        private static final long PRIVATE = Long.MIN_VALUE;

        public static Key ofFile(long device, long inode) {
            return new Key(device & ~PRIVATE, inode);
        }

        /** The domain of a queue pair of type XRC_RECV, from the directory entry at that address. */
        static Key ofReceiver(long entry) {
            return new Key(RawMemory.getLong(entry + AdapterLayout.QP_DOMAIN), RawMemory.getLong(entry
                    + AdapterLayout.QP_DOMAIN + 8));
        }

        public boolean isPrivate() {
            return high < 0;
        }

        /** Bound by a process that is about to open the domain for the first time. */
        public String lockName() {
            return name() + "lock";
        }

        private String name() {
            return NAMES + Sys.uid() + "/" + Long.toHexString(high) + "-" + Long.toHexString(low) + "/";
        }
    }

    private static final class Open {
        final UnixSocket name;
        /** Keeps the inode from being used for another file; null of a private domain. */
        final @Nullable Fd file;
        int count = 1;

        Open(UnixSocket name, @Nullable Fd file) {
            this.name = name;
            this.file = file;
        }

        void close() {
            name.close();
            if (file != null) {
                file.close();
            }
        }
    }

    public XrcDomains(long instance) {
        this.instance = instance;
    }

    /** Opens a domain that no other process can open. */
    public Key openPrivate(String verb) throws VerbsException {
        synchronized (domains) {
            Key key = new Key(Key.PRIVATE | ++privateDomains, instance);
            domains.put(key, new Open(bind(verb, key), null));
            return key;
        }
    }

    /**
     * Opens a domain, or opens it once more.
     *
     * @param descriptor of the file that the key names
     * @param create if it does not exist; else that is {@code EAGAIN}
     * @param exclusive it must not exist, {@code EINVAL}
     */
    public void open(String verb, Key key, int descriptor, boolean create, boolean exclusive) throws VerbsException {
        synchronized (opening) {
            if (openAgain(verb, key, create, exclusive)) {
                return;
            }
            Fd file = null;
            UnixSocket lock = lock(verb, key);
            try {
                require(verb, exists(verb, key), create, exclusive);
                file = Fd.duplicate(descriptor);
                Open o = new Open(bind(verb, key), file);
                file = null;
                synchronized (domains) {
                    domains.put(key, o);
                }
            } catch (LinuxException e) {
                throw new VerbsException(verb, e);
            } finally {
                lock.close();
                if (file != null) {
                    file.close();
                }
            }
        }
    }

    private boolean openAgain(String verb, Key key, boolean create, boolean exclusive) throws VerbsException {
        synchronized (domains) {
            Open o = domains.get(key);
            if (o == null) {
                return false;
            }
            require(verb, true, create, exclusive);
            o.count++;
            return true;
        }
    }

    private static void require(String verb, boolean exists, boolean create, boolean exclusive)
            throws VerbsException {
        if (!exists && !create) {
            throw new VerbsException(verb, Errno.EAGAIN, "the file has no XRC domain: open it with CREATE");
        }
        if (exists && exclusive) {
            throw new VerbsException(verb, Errno.EINVAL, "the file has an XRC domain already, and EXCLUSIVE was asked");
        }
    }

    /** Adds a user to an open domain. */
    public void retain(Key key) {
        synchronized (domains) {
            Open o = domains.get(key);
            if (o == null) {
                throw new IllegalStateException("the domain is not open");
            }
            o.count++;
        }
    }

    /** Undoes {@link #open} or {@link #retain}. */
    public void release(Key key) {
        synchronized (domains) {
            Open o = domains.get(key);
            if (o != null && --o.count == 0) {
                domains.remove(key);
                o.close();
            }
        }
    }

    /** Keeps other processes from opening the domain for the first time until it is closed. */
    private static UnixSocket lock(String verb, Key key) throws VerbsException {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (true) {
            try {
                return UnixSocket.listen(key.lockName(), 1);
            } catch (LinuxException e) {
                if (e.errno() != Errno.EADDRINUSE) {
                    throw new VerbsException(verb, e);
                }
                if (System.nanoTime() - end > 0) {
                    throw new VerbsException(verb, Errno.ETIMEDOUT,
                            "another process is about to open the domain and does not finish: is it stopped?");
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private UnixSocket bind(String verb, Key key) throws VerbsException {
        try {
            return UnixSocket.listen(key.name() + Long.toHexString(instance), 1);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /** True if some context has it open, by the kernel's list of Unix sockets. */
    private static boolean exists(String verb, Key key) throws VerbsException {
        String member = key.name();
        try {
            return ProcUnix.abstractNames().stream().anyMatch(n -> n.startsWith(member) && !n.endsWith("/lock"));
        } catch (IOException e) {
            throw new VerbsException(verb, Errno.EIO, "/proc/net/unix cannot be read: " + e.getMessage());
        }
    }

    /** The context closes. */
    public void close() {
        synchronized (domains) {
            domains.values().forEach(Open::close);
            domains.clear();
        }
    }
}
