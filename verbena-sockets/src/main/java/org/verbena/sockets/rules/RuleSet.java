// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The rules in force for one program, by role: those added at run time, then those of the first block that matches the
 * program. Immutable.
 */
public final class RuleSet {
    private static final Decision[] NONE = {};
    private static final int ROLES = Role.values().length;

    /** The rules of a program that no block matches: none. */
    static final RuleSet EMPTY = empty();

    private final Decision[][] byRole;
    private final @Nullable Block block;

    private RuleSet(Decision[][] byRole, @Nullable Block block) {
        this.byRole = byRole;
        this.block = block;
    }

    private static RuleSet empty() {
        Decision[][] none = new Decision[ROLES][];
        Arrays.fill(none, NONE);
        return new RuleSet(none, null);
    }

    /** The first block that matches is final: that it has no rule for a socket does not lead to the next one. */
    public static RuleSet of(List<Block> blocks, Application application) {
        for (Block b : blocks) {
            if (b.matches(application)) {
                return EMPTY.with(b.rules(), b);
            }
        }
        return EMPTY;
    }

    /** This set with some rules prepended, in their order. */
    public RuleSet with(List<Rule> first) {
        return first.isEmpty() ? this : with(first, block);
    }

    @SuppressWarnings("EnumOrdinal") // an index for an array of this class
    private RuleSet with(List<Rule> first, @Nullable Block from) {
        Decision[][] all = new Decision[ROLES][];
        for (Role role : Role.values()) {
            List<Decision> decisions = new ArrayList<>();
            for (Rule r : first) {
                if (r.role() == role) {
                    decisions.add(Decision.by(r));
                }
            }
            decisions.addAll(List.of(byRole[role.ordinal()]));
            all[role.ordinal()] = decisions.toArray(NONE);
        }
        return new RuleSet(all, from);
    }

    /** The first rule that matches, or the default. */
    @SuppressWarnings("EnumOrdinal")
    public Decision decide(Role role, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        Decision[] decisions = byRole[role.ordinal()];
        for (int i = 0; i < decisions.length; i++) {
            Rule rule = decisions[i].rule();
            if (rule != null && rule.matches(local, remote)) {
                return decisions[i];
            }
        }
        return Decision.DEFAULT;
    }

    /**
     * The rules up to the one that decides which are for this remote address and for certain local ones: without a local
     * address it is not known whether they match.
     */
    @SuppressWarnings("EnumOrdinal")
    public List<Rule> askingForLocal(Role role, @Nullable InetSocketAddress remote) {
        Decision decided = decide(role, null, remote);
        List<Rule> rules = new ArrayList<>();
        for (Decision d : byRole[role.ordinal()]) {
            Rule r = d.rule();
            if (r != null && r.asksForLocal(remote)) {
                rules.add(r);
            }
            if (d == decided) {
                break;
            }
        }
        return rules;
    }

    /** The block that holds for the program; null if none does. */
    public @Nullable Block block() {
        return block;
    }

    /** The rules of a role in the order in which they are tried. */
    @SuppressWarnings("EnumOrdinal")
    public List<Rule> rules(Role role) {
        List<Rule> rules = new ArrayList<>();
        for (Decision d : byRole[role.ordinal()]) {
            Rule r = d.rule();
            if (r != null) {
                rules.add(r);
            }
        }
        return rules;
    }
}
