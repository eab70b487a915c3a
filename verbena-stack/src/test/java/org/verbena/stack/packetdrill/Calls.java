// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.IpAddress;

/** System calls of a script. */
final class Calls {
    private static final long NANOS_OF_MILLI = 1_000_000;

    /** A call that was begun: how it goes on, and whether its result is right. */
    record Begun(Target.Answer answer, Check check) {}

    /** Looks at a result. */
    @FunctionalInterface
    interface Check {
        void result(long result) throws Failure;
    }

    private final Target target;
    private final Profile profile;
    private final Supplier<@Nullable Flow> flow;
    private final Map<Long, Integer> sockets = new HashMap<>();
    private final Stream sent = new Stream();
    private final Stream received = new Stream();
    private int last = -1;

    Calls(Target target, Profile profile, Supplier<@Nullable Flow> flow) {
        this.target = target;
        this.profile = profile;
        this.flow = flow;
    }

    /** The bytes that were sent. */
    Stream sent() {
        return sent;
    }

    /** The socket that was made last: that of assertions. */
    int last() {
        return last;
    }

    Begun begin(Action.Call c) throws Failure {
        return switch (c.name()) {
            case "socket" -> opens(c, Target.Answer.of(socket(c)));
            case "accept" -> opens(c, target.accept(socket(c, 0)));
            case "bind" -> plain(c, target.bind(socket(c, 0), address(c, profile.local()),
                    port(c, profile.localPort())));
            case "connect" -> new Begun(target.connect(socket(c, 0), address(c, profile.remote()),
                    port(c, profile.remotePort())), r -> returns(c, r));
            case "listen" -> plain(c, target.listen(socket(c, 0), (int) number(c, 1)));
            case "shutdown" -> plain(c, target.shutdown(socket(c, 0), (int) number(c, 1)));
            case "close" -> new Begun(target.close(socket(c, 0)), r -> returns(c, r));
            case "fcntl" -> plain(c, fcntl(c));
            case "setsockopt" -> plain(c, setOption(c));
            case "getsockopt" -> getOption(c);
            case "recvmsg" -> receiveMessage(c);
            case "sendmsg" -> sendMessage(c);
            case "ioctl" -> ioctl(c);
            case "read", "recv", "recvfrom" -> receive(c);
            case "write", "send", "sendto" -> send(c);
            case "poll" -> poll(c);
            default -> throw new Failure(Failure.Kind.UNSUPPORTED, "call " + c.name());
        };
    }

    private Begun plain(Action.Call c, long result) {
        return new Begun(Target.Answer.of(result), r -> returns(c, r));
    }

    private static void returns(Action.Call c, long result) throws Failure {
        if (c.errno() != null) {
            long expected = Constants.named(c.errno());
            if (result != -expected) {
                throw new Failure(Failure.Kind.ERRNO, "returned " + text(result));
            }
        } else if (!(c.result() instanceof Expression.Any) && result != Constants.value(c.result())) {
            if (result == -Errno.ENOPROTOOPT && c.name().equals("setsockopt")) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "needs socket option " + c.arguments().get(2));
            }
            throw new Failure(result < 0 ? Failure.Kind.ERRNO : Failure.Kind.RETURN, "returned " + text(result));
        }
    }

    private static String text(long result) {
        return result < 0 ? "-1 " + Errno.name((int) -result) : Long.toString(result);
    }

    private static Expression argument(Action.Call c, int i) throws Failure {
        if (i >= c.arguments().size()) {
            throw new Failure(Failure.Kind.UNSUPPORTED, c.name() + " with " + c.arguments().size() + " arguments");
        }
        return c.arguments().get(i);
    }

    private static long number(Action.Call c, int i) throws Failure {
        return Constants.value(argument(c, i));
    }

    private int socket(Action.Call c, int i) throws Failure {
        return sockets.getOrDefault(number(c, i), -1);
    }

    private long socket(Action.Call c) throws Failure {
        Expression domain = argument(c, 0);
        boolean ipv6 = domain instanceof Expression.Any
                ? profile.version().ipv6Sockets()
                : Constants.value(domain) == Constants.AF_INET6;
        long kind = number(c, 1);
        boolean waits = (kind & Constants.O_NONBLOCK) == 0;
        long socket = target.socket(ipv6, (kind & ~Constants.O_NONBLOCK) != Constants.named("SOCK_DGRAM"));
        if (socket >= 0 && !waits) {
            target.setBlocking((int) socket, false);
        }
        return socket;
    }

    private Begun opens(Action.Call c, Target.Answer answer) {
        return new Begun(answer, r -> {
            if (r < 0 || c.errno() != null) {
                returns(c, r);
            } else {
                sockets.put(Constants.value(c.result()), (int) r);
                last = (int) r;
            }
        });
    }

    private static @Nullable Expression member(Action.Call c, String name) throws Failure {
        if (!(argument(c, 1) instanceof Expression.Struct s)) {
            return null;
        }
        for (Expression e : s.of()) {
            if (e instanceof Expression.Member m && m.name().toString().equals(name)
                    && m.value() instanceof Expression.Apply a && a.arguments().size() == 1) {
                return a.arguments().getFirst();
            }
        }
        return null;
    }

    private static int port(Action.Call c, int otherwise) throws Failure {
        Expression e = member(c, "sin_port");
        Expression of6 = member(c, "sin6_port");
        return e != null ? (int) Constants.value(e) : of6 != null ? (int) Constants.value(of6) : otherwise;
    }

    private static IpAddress address(Action.Call c, IpAddress otherwise) throws Failure {
        Expression address = member(c, "sin_addr");
        if (address == null && argument(c, 1) instanceof Expression.Struct s) {
            for (Expression e : s.of()) { // inet_pton(AF_INET6, "::1", &sin6_addr)
                if (e instanceof Expression.Apply a && a.function().equals("inet_pton")
                        && a.arguments().size() == 3) {
                    address = a.arguments().get(1);
                }
            }
        }
        if (!(address instanceof Expression.Text t)) {
            return otherwise;
        }
        try {
            return IpAddress.of(InetAddress.ofLiteral(t.value()));
        } catch (IllegalArgumentException e) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "address " + t);
        }
    }

    private long fcntl(Action.Call c) throws Failure {
        int socket = socket(c, 0);
        return switch (argument(c, 1).toString()) {
            case "F_GETFL" -> Constants.O_RDWR | (target.blocking(socket) ? 0 : Constants.O_NONBLOCK);
            case "F_SETFL" -> target.setBlocking(socket, (number(c, 2) & Constants.O_NONBLOCK) == 0);
            default -> throw new Failure(Failure.Kind.UNSUPPORTED, "fcntl " + argument(c, 1));
        };
    }

    private static Expression only(Expression e) {
        return e instanceof Expression.Array a && a.of().size() == 1 ? a.of().getFirst() : e;
    }

    private long setOption(Action.Call c) throws Failure {
        String name = argument(c, 2).toString();
        Expression value = only(argument(c, 3));
        if (value instanceof Expression.Struct s && name.equals("SO_LINGER") && s.of().size() == 2) {
            return target.setLinger(socket(c, 0), linger(s.of().getFirst()) != 0, (int) linger(s.of().getLast()));
        }
        return target.setOption(socket(c, 0), name, Constants.value(value));
    }

    private static long linger(Expression e) throws Failure {
        return Constants.value(e instanceof Expression.Member m ? m.value() : e);
    }

    private Begun getOption(Action.Call c) throws Failure {
        String name = argument(c, 2).toString();
        long value = target.getOption(socket(c, 0), name);
        boolean any = profile.anyBufferSize() && (name.equals("SO_RCVBUF") || name.equals("SO_SNDBUF"));
        return new Begun(Target.Answer.of(value < 0 ? value : 0), r -> {
            if (r == -Errno.ENOPROTOOPT && c.errno() == null) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "needs socket option " + name);
            }
            returns(c, r);
            Expression expected = only(argument(c, 3));
            if (r >= 0 && !any && !(expected instanceof Expression.Any) && value != Constants.value(expected)) {
                throw new Failure(Failure.Kind.VALUE, name + " is "
                        + (name.equals("SO_ERROR") && value != 0 ? Errno.name((int) value) : value));
            }
        });
    }

    private static int flags(Action.Call c) throws Failure {
        return c.arguments().size() > 3 ? (int) number(c, 3) : 0;
    }

    private Begun receive(Action.Call c) throws Failure {
        return receive(c, (int) number(c, 2), flags(c));
    }

    private Begun receiveMessage(Action.Call c) throws Failure {
        for (Expression e : argument(c, 1) instanceof Expression.Struct s ? s.of() : List.<Expression>of()) {
            if (e instanceof Expression.Member m && m.name().toString().equals("msg_control")) {
                throw new Failure(Failure.Kind.UNSUPPORTED, "control messages of recvmsg");
            }
        }
        return receive(c, length(c), (int) number(c, 2));
    }

    private Begun sendMessage(Action.Call c) throws Failure {
        return send(c, length(c), new Expression.Any(), (int) number(c, 2));
    }

    /** The sum of the lengths of {@code msg_iov}. */
    private static int length(Action.Call c) throws Failure {
        long length = 0;
        for (Expression e : argument(c, 1) instanceof Expression.Struct s ? s.of() : List.<Expression>of()) {
            if (e instanceof Expression.Member m && m.name() instanceof Expression.Apply a && a.function().equals(
                    "msg_iov") && m.value() instanceof Expression.Array all) {
                for (Expression part : all.of()) {
                    length += part instanceof Expression.Struct s ? Constants.value(s.of().getLast()) : 0;
                }
            }
        }
        return (int) length;
    }

    private Begun ioctl(Action.Call c) throws Failure {
        String name = argument(c, 1).toString();
        long found = target.queued(socket(c, 0), name);
        if (found < 0) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "ioctl " + name);
        }
        long expected = Constants.value(only(argument(c, 2)));
        return new Begun(Target.Answer.of(0), r -> {
            returns(c, r);
            if (found != expected) {
                throw new Failure(Failure.Kind.VALUE, name + " is " + found);
            }
        });
    }

    private Begun receive(Action.Call c, int most, int flags) throws Failure {
        int socket = socket(c, 0);
        byte[] buffer = new byte[most];
        return new Begun(target.receive(socket, buffer, flags), r -> {
            returns(c, r);
            Flow f = flow.get();
            if (r <= 0 || f == null) {
                return;
            }
            long at = received.next(socket, f.firstOfPeer());
            byte[] got = Arrays.copyOf(buffer, (int) r);
            int wrong = Arrays.mismatch(got, Stream.bytes(at, got.length));
            if (wrong >= 0 && received.known()) {
                throw new Failure(Failure.Kind.DATA, "the byte at sequence number " + (at + wrong) + " is another");
            }
            if ((flags & Constants.MSG_PEEK) == 0) {
                received.passed(got.length);
            }
        });
    }

    private Begun send(Action.Call c) throws Failure {
        return send(c, (int) number(c, 2), argument(c, 1), flags(c));
    }

    private Begun send(Action.Call c, int length, Expression bytes, int flags) throws Failure {
        int socket = socket(c, 0);
        Flow f = flow.get();
        byte[] data;
        if (bytes instanceof Expression.Any && f != null) {
            data = Stream.bytes(sent.next(socket, f.firstOfStack()), length);
        } else {
            data = new byte[length];
            sent.forget();
        }
        return new Begun(target.send(socket, data, flags), r -> {
            sent.passed((int) Math.max(0, r));
            returns(c, r);
        });
    }

    /** One descriptor of poll(2), and what is expected of it. */
    private record Polled(int socket, int events, long expected) {}

    private Begun poll(Action.Call c) throws Failure {
        List<Polled> polled = new ArrayList<>();
        if (!(argument(c, 0) instanceof Expression.Array array)) {
            throw new Failure(Failure.Kind.UNSUPPORTED, "poll of " + argument(c, 0));
        }
        for (Expression e : array.of()) {
            polled.add(polled(e));
        }
        long timeout = number(c, 2);
        long end = timeout < 0 ? Long.MAX_VALUE : target.now() + timeout * NANOS_OF_MILLI;
        Target.Answer answer = () -> {
            long ready = polled.stream().filter(p -> ready(p) != 0).count();
            return ready > 0 || target.now() >= end ? ready : Target.Answer.WAITS;
        };
        return new Begun(answer, r -> {
            returns(c, r);
            for (Polled p : polled) {
                if (p.expected() >= 0 && ready(p) != p.expected()) {
                    throw new Failure(Failure.Kind.VALUE, "revents is 0x" + Integer.toHexString(ready(p)));
                }
            }
        });
    }

    private int ready(Polled p) {
        return target.ready(p.socket()) & (p.events() | 0x8 | 0x10);
    }

    private Polled polled(Expression e) throws Failure {
        long fd = -1;
        long events = 0;
        long expected = -1;
        for (Expression m : e instanceof Expression.Struct s ? s.of() : List.of(e)) {
            if (m instanceof Expression.Member member) {
                switch (member.name().toString()) {
                    case "fd" -> fd = Constants.value(member.value());
                    case "events" -> events = Constants.value(member.value());
                    case "revents" -> expected = Constants.value(member.value());
                    default -> throw new Failure(Failure.Kind.UNSUPPORTED, "member " + member.name());
                }
            }
        }
        return new Polled(sockets.getOrDefault(fd, -1), (int) events, expected);
    }
}
