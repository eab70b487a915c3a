// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Describes an error of a command line in the words of a user, where picocli uses those of its parser. */
public final class WrongUsage {
    /** The given value, and the rest. */
    private static final Pattern VALUE = Pattern.compile(
            "Invalid value for (?:option '([^']+)'|positional parameter)(?: at index \\S+)?(?: \\(([^)]*)\\))?: (.*)",
            Pattern.DOTALL);
    private static final Pattern ONE_OF = Pattern.compile("expected one of \\[(.*)] \\(case-\\w+\\) but was '(.*)'",
            Pattern.DOTALL);

    private WrongUsage() {}

    /** One sentence, and a suggestion. */
    public static String sentence(ParameterException wrong) {
        String message = Objects.requireNonNullElse(wrong.getMessage(), "");
        if (wrong instanceof UnmatchedArgumentException u && !u.getUnmatched().isEmpty()) {
            return unmatched(u, message);
        }
        Matcher value = VALUE.matcher(message);
        return value.matches() ? value(value) : message;
    }

    private static String unmatched(UnmatchedArgumentException wrong, String message) {
        String word = wrong.getUnmatched().getFirst();
        if (wrong.isUnknownOption()) {
            List<String> near = wrong.getSuggestions();
            return message + (near.isEmpty() ? "" : ": did you mean " + near.getFirst() + "?");
        }
        CommandLine command = wrong.getCommandLine();
        if (command.getSubcommands().isEmpty()) {
            return "the argument '" + word + "' is one too many";
        }
        String question = Nearest.question(word, command.getSubcommands().keySet());
        return "there is no command '" + word + "'" + (question.isEmpty() ? "" : ": " + question);
    }

    private static String value(Matcher m) {
        String name = Objects.requireNonNullElse(m.group(1), Objects.requireNonNullElse(m.group(2), ""));
        Matcher oneOf = ONE_OF.matcher(m.group(3));
        if (!oneOf.matches()) {
            return name + ": " + m.group(3);
        }
        List<String> words = Arrays.stream(oneOf.group(1).split(", ", -1)).map(w -> w.toLowerCase(Locale.ROOT))
                .toList();
        String question = Nearest.question(oneOf.group(2).toLowerCase(Locale.ROOT), words);
        return name + " '" + oneOf.group(2) + "' is none of " + String.join(", ", words)
                + (question.isEmpty() ? "" : ": " + question);
    }
}
