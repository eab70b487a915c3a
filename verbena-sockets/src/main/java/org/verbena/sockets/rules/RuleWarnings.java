// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.ArrayList;
import java.util.List;

/** What is right by the grammar and yet never used, or read otherwise than libvma does. */
public final class RuleWarnings {
    private RuleWarnings() {}

    /** One sentence each; none if there is nothing to warn of. */
    public static List<String> of(List<Block> blocks) {
        List<String> all = new ArrayList<>();
        Block forAll = null;
        for (Block b : blocks) {
            if (forAll != null) {
                all.add(b.place() + ": never used, since " + at(forAll.place()) + " matches every program and the first"
                        + " block that matches is final");
            } else if (b.isForAll()) {
                forAll = b;
            }
            List<Rule> rules = b.rules();
            for (int i = 0; i < rules.size(); i++) {
                check(rules, i, all);
            }
        }
        return all;
    }

    private static void check(List<Rule> rules, int i, List<String> all) {
        Rule rule = rules.get(i);
        if (rule.transport() == Transport.GONE) {
            all.add(rule + ": matches nothing, as with libvma: sdp and sa are no transports any more");
            return;
        }
        if (rule.transport() == Transport.STACK) {
            all.add(rule + ": the kernel serves such a socket, there is no stack of Verbena's yet");
        }
        if (rule.transport() == Transport.STREAM && rule.role().isDatagram()) {
            all.add(rule + ": not asked, datagrams are always the kernel's");
        }
        String device = rule.device();
        String problem = device == null ? null : RuleDevices.problem(device);
        if (problem != null) {
            all.add(rule + ": refused on this machine: " + problem);
        }
        for (Rule before : rules.subList(0, i)) {
            if (before.role() == rule.role() && before.covers(rule)) {
                all.add(rule + ": never used, since " + at(before.place()) + " matches all that it matches");
                return;
            }
        }
    }

    private static String at(Rule.Place place) {
        return "line " + place.line() + " (" + place.text() + ")";
    }
}
