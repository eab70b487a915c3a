// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.monitor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.verbena.xdp.packet.IpAddresses;

/**
 * The grammar of pcap-filter(7), as far as the key of a packet answers it. As there, {@code and} and {@code or} have the
 * same precedence and associate to the left, {@code not} binds closer, and an address or port without words before it
 * has those of the one before.
 *
 * <pre>
 * filter    = not (("and" | "or") not)*
 * not       = ("not" | "!") not | "(" filter ")" | primitive
 * primitive = "vlan" [N] | "inbound" | "outbound" | protocol | [protocol] [direction] [type] value
 * protocol  = "ip" | "ip6" | "arp" | "tcp" | "udp" | "icmp" | "icmp6"
 * direction = "src" | "dst" | "src or dst" | "src and dst"
 * type      = "host" | "net" | "port" | "portrange" | "proto"
 * </pre>
 */
final class FilterParser {
    private static final Pattern TOKEN = Pattern.compile("\\(|\\)|!|&&|\\|\\||[^\\s()!&|]+|\\S");
    private static final Pattern DOTTED = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
    private static final Set<String> TYPES = Set.of("host", "net", "port", "portrange", "proto");
    private static final int MOST_NESTED = 100;
    /** A program has no room for more. */
    private static final int MOST_CONDITIONS = 1000;
    private static final int MAX_PORT = 65_535;
    private static final int MAX_VLAN = 4095;
    private static final int MAX_PROTOCOL = 255;
    private static final int BITS_4 = 32;
    private static final int BITS_6 = 128;

    private record Token(String text, int column) {}

    /** The words before a value. */
    private record Words(@Nullable String protocol, String direction, @Nullable String type) {
        static final Words NONE = new Words(null, "src or dst", null);
    }

    private final List<Token> tokens = new ArrayList<>();
    private final Token end;
    private int next;
    private int nested;
    private int conditions;
    private Words last = Words.NONE;

    FilterParser(String text) {
        Matcher m = TOKEN.matcher(text);
        while (m.find()) {
            tokens.add(new Token(m.group(), m.start() + 1));
        }
        end = new Token("", text.length() + 1);
    }

    Term parse() throws FilterException {
        Term all = filter();
        Token rest = peek();
        if (rest != end) {
            throw wrong(rest, rest.text.equals(")")
                    ? "this ) closes nothing"
                    : "'and', 'or' or the end is expected, not '"
                            + rest.text + "'");
        }
        return all;
    }

    private Token peek() {
        return next < tokens.size() ? tokens.get(next) : end;
    }

    private boolean take(String... words) {
        Token t = peek();
        for (String w : words) {
            if (t != end && t.text.equals(w)) {
                next++;
                return true;
            }
        }
        return false;
    }

    private static FilterException wrong(Token at, String what) {
        return new FilterException(at.column, what);
    }

    private Term filter() throws FilterException {
        Term all = not();
        while (true) {
            if (take("and", "&&")) {
                all = all.and(not());
            } else if (take("or", "||")) {
                all = all.or(not());
            } else {
                return all;
            }
        }
    }

    private Term not() throws FilterException {
        Token at = peek();
        if (++nested > MOST_NESTED) {
            throw wrong(at, "more than " + MOST_NESTED + " of 'not' and ( within each other");
        }
        Term term;
        if (take("not", "!")) {
            term = new Term.Not(not());
        } else if (take("(")) {
            term = filter();
            if (!take(")")) {
                throw wrong(peek(), "a ) is missing for the ( of column " + at.column);
            }
        } else {
            term = primitive();
        }
        nested--;
        return term;
    }

    private Term primitive() throws FilterException {
        if (++conditions > MOST_CONDITIONS) {
            throw wrong(peek(), "there are more than " + MOST_CONDITIONS + " conditions");
        }
        if (take("vlan")) {
            Term tagged = Term.has(Fields.KIND, Fields.TAGGED);
            return peek() != end && isNumber(peek().text)
                    ? tagged.and(Term.bits(Fields.VLAN, 0xFFFF, number("the number of a VLAN", MAX_VLAN)))
                    : tagged;
        }
        if (take("inbound")) {
            return Term.byteIs(Fields.DIRECTION, 0);
        }
        if (take("outbound")) {
            return Term.byteIs(Fields.DIRECTION, 1);
        }
        Token at = peek();
        String protocol = take("ip", "ip6", "arp", "tcp", "udp", "icmp", "icmp6") ? at.text : null;
        String direction = direction();
        Token typed = peek();
        String type = typed != end && TYPES.contains(typed.text) ? typed.text : null;
        if (type != null) {
            next++;
        }
        if (protocol != null && direction == null && type == null) {
            return protocol(protocol);
        }
        if (protocol == null && direction == null && type == null) {
            return value(last.type == null ? new Words(null, "src or dst", "host") : last, at);
        }
        last = new Words(protocol, direction == null ? "src or dst" : direction, type == null ? "host" : type);
        return value(last, typed);
    }

    private @Nullable String direction() throws FilterException {
        Token first = peek();
        if (!take("src", "dst")) {
            return null;
        }
        int back = next;
        Token word = peek();
        if (take("or", "and") && first.text.equals("src") && take("dst")) {
            return "src " + word.text + " dst";
        }
        next = back;
        return first.text;
    }

    private static Term protocol(String name) {
        return switch (name) {
            case "ip" -> type(Fields.TYPE_IPV4);
            case "ip6" -> type(Fields.TYPE_IPV6);
            case "arp" -> type(Fields.TYPE_ARP);
            case "icmp" -> protocol(Fields.IPV4, Fields.PROTOCOL_ICMP);
            case "icmp6" -> protocol(Fields.IPV6, Fields.PROTOCOL_ICMPV6);
            default -> either(Protocols.number(name).orElseThrow());
        };
    }

    private static Term type(int type) {
        return Term.bits(Fields.ETHER_TYPE, 0xFFFF, Short.reverseBytes((short) type) & 0xFFFF);
    }

    private static Term protocol(int kind, int number) {
        return Term.has(Fields.KIND, kind).and(Term.byteIs(Fields.PROTOCOL, number));
    }

    private static Term either(int number) {
        return protocol(Fields.IPV4, number).or(protocol(Fields.IPV6, number));
    }

    private Term value(Words words, Token typed) throws FilterException {
        Token at = peek();
        if (at == end || at.text.equals(")")) {
            throw wrong(at, last == words && words.type != null && typed != at
                    ? "the value of '" + typed.text + "' is missing"
                    : "an address, or a word as host, net, port, tcp, udp, icmp, ip, ip6, vlan is missing");
        }
        String protocol = words.protocol;
        Term term = switch (words.type == null ? "host" : words.type) {
            case "port", "portrange" -> ports(words, typed);
            case "proto" -> ofProtocol(words);
            case "net" -> net(words);
            default -> host(words);
        };
        boolean ports = "port".equals(words.type) || "portrange".equals(words.type);
        return protocol == null || "proto".equals(words.type)
                ? term
                : (ports
                        ? term.and(protocol(protocol))
                        : protocol(
                                protocol).and(term));
    }

    private Term ofProtocol(Words words) throws FilterException {
        Token at = peek();
        OptionalInt known = Protocols.number(at.text);
        int number;
        if (known.isPresent()) {
            next++;
            number = known.getAsInt();
        } else {
            number = number("the number of a protocol, or tcp, udp, icmp, icmp6, igmp, gre, esp, ah, sctp",
                    MAX_PROTOCOL);
        }
        if (words.protocol == null) {
            return either(number);
        }
        return switch (words.protocol) {
            case "ip" -> protocol(Fields.IPV4, number);
            case "ip6" -> protocol(Fields.IPV6, number);
            default -> throw wrong(at, "'" + words.protocol + " proto' does not go: ip proto, ip6 proto");
        };
    }

    private Term ports(Words words, Token typed) throws FilterException {
        if (words.protocol != null && !Set.of("tcp", "udp", "ip", "ip6").contains(words.protocol)) {
            throw wrong(typed, words.protocol + " has no ports: tcp and udp have");
        }
        int first;
        int most;
        if ("port".equals(words.type)) {
            first = number("the number of a port", MAX_PORT);
            most = first;
        } else {
            Token at = peek();
            Matcher m = Pattern.compile("(\\d{1,5})-(\\d{1,5})").matcher(at.text);
            if (!m.matches() || Integer.parseInt(m.group(2)) > MAX_PORT || Integer.parseInt(m.group(1)) > Integer
                    .parseInt(m.group(2))) {
                throw wrong(at, "a range of ports is expected, for instance 6000-6008, not '" + at.text + "'");
            }
            next++;
            first = Integer.parseInt(m.group(1));
            most = Integer.parseInt(m.group(2));
        }
        return Term.has(Fields.KIND, Fields.PORTS).and(ends(words.direction, new Term.Range(Fields.SOURCE_PORT, first,
                most), new Term.Range(Fields.DESTINATION_PORT, first, most)));
    }

    private static Term ends(String direction, Term source, Term destination) {
        return switch (direction) {
            case "src" -> source;
            case "dst" -> destination;
            case "src and dst" -> source.and(destination);
            default -> source.or(destination);
        };
    }

    private Term host(Words words) throws FilterException {
        Token at = peek();
        byte[] address = address(at, at.text, words);
        next++;
        return addresses(words, address, 8 * address.length);
    }

    private static Term addresses(Words words, byte[] address, int bits) {
        return Term.has(Fields.KIND, address.length == 4 ? Fields.IPV4 : Fields.IPV6).and(ends(words.direction, Term
                .prefix(Fields.SOURCE, full(address), bits), Term.prefix(Fields.DESTINATION, full(address), bits)));
    }

    private static byte[] full(byte[] address) {
        return Arrays.copyOf(address, Fields.ADDRESS_BYTES);
    }

    private static byte[] address(Token at, String text, Words words) throws FilterException {
        byte[] address = null;
        if (DOTTED.matcher(text).matches() || text.indexOf(':') >= 0 && text.indexOf('%') < 0 && text.indexOf(
                '[') < 0) {
            try {
                address = IpAddresses.parse(text);
            } catch (IllegalArgumentException e) {
                // reported below
            }
        }
        if (address == null) {
            throw wrong(at, "'" + text + "' is neither an address of IPv4 or IPv6 nor a word of filters: host, net,"
                    + " port, portrange, proto, src, dst, tcp, udp, icmp, icmp6, ip, ip6, arp, vlan, inbound, outbound,"
                    + " not; names of hosts are not looked up");
        }
        String family = words.protocol;
        if (family != null && (address.length == 4 ? Set.of("ip6", "icmp6", "arp") : Set.of("ip", "icmp", "arp"))
                .contains(family)) {
            throw wrong(at, family.equals("arp")
                    ? "addresses in ARP are not looked at"
                    : "'" + text + "' is an address of " + (address.length == 4 ? "IPv4" : "IPv6") + ", and "
                            + family + " has those of " + (address.length == 4 ? "IPv6" : "IPv4"));
        }
        return address;
    }

    private Term net(Words words) throws FilterException {
        Token at = peek();
        int slash = at.text.indexOf('/');
        byte[] address = address(at, slash < 0 ? at.text : at.text.substring(0, slash), words);
        next++;
        int most = address.length == 4 ? BITS_4 : BITS_6;
        int bits = most;
        if (slash >= 0) {
            String length = at.text.substring(slash + 1);
            if (!length.matches("\\d{1,3}") || Integer.parseInt(length) > most) {
                throw new FilterException(at.column + slash + 1, "the length of a prefix is 0 to " + most + ", not '"
                        + length + "'");
            }
            bits = Integer.parseInt(length);
        } else if (take("mask")) {
            bits = mask(peek(), words, address.length);
            next++;
        }
        for (int i = bits; i < most; i++) {
            if ((address[i / 8] & 0x80 >> i % 8) != 0) {
                throw wrong(at, "'" + at.text + "' has bits behind its prefix of " + bits);
            }
        }
        return addresses(words, address, bits);
    }

    private static int mask(Token at, Words words, int length) throws FilterException {
        byte[] mask = address(at, at.text, words);
        int bits = 0;
        while (bits < 8 * mask.length && (mask[bits / 8] & 0x80 >> bits % 8) != 0) {
            bits++;
        }
        for (int i = bits; i < 8 * mask.length; i++) {
            if ((mask[i / 8] & 0x80 >> i % 8) != 0) {
                throw wrong(at, "'" + at.text + "' is no mask of a prefix");
            }
        }
        if (mask.length != length) {
            throw wrong(at, "'" + at.text + "' is no mask for that address");
        }
        return bits;
    }

    private static boolean isNumber(String text) {
        return text.matches("\\d{1,9}");
    }

    private int number(String what, int most) throws FilterException {
        Token at = peek();
        if (at == end || !isNumber(at.text) || Integer.parseInt(at.text) > most) {
            throw wrong(at, what + " is expected, 0 to " + most + (at == end ? "" : ", not '" + at.text + "'"));
        }
        next++;
        return Integer.parseInt(at.text);
    }
}
