// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.support;

import java.util.Collection;
import java.util.List;

/** The known words that are nearest to an unknown word. */
public final class Nearest {
    private static final int MOST = 2;

    private Nearest() {}

    /** The words that differ least; none if they differ in more than a third of the letters. */
    static List<String> to(String word, Collection<String> words) {
        int least = words.stream().mapToInt(w -> distance(word, w)).min().orElse(0);
        return least > Math.max(1, word.length() / 3)
                ? List.of()
                : words.stream().filter(w -> distance(word, w) == least).sorted().limit(MOST).toList();
    }

    /** Half a sentence: "did you mean 'a' or 'b'?"; empty if nothing is near. */
    public static String question(String word, Collection<String> words) {
        List<String> near = to(word, words);
        return near.isEmpty() ? "" : "did you mean '" + String.join("' or '", near) + "'?";
    }

    /** The number of letters to substitute, insert or delete; a transposition counts as one. */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(d[i - 1][j - 1] + same, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
