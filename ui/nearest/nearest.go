// Package nearest finds the word that a mistyped one was probably meant to be.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// Word returns the candidate that word most resembles, or "" where none is close: at
// most a third of its letters differ, two neighbours swapped counting as one.
// Case does not count. Of several equally close the first wins.
func Word(word string, candidates []string) string {
	best, least := "", len(word)/3+1
	if utf8.RuneCountInString(word) > longest {
		return ""
	}
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least || d == least && best == "" {
			best, least = candidate, d
		}
	}
	return best
}

// longest bounds the work; no word of ours is longer.
const longest = 64

// DidYouMean is " (did you mean NEAREST?)", or "" where nothing is near.
func DidYouMean(word string, candidates []string) string {
	if found := Word(word, candidates); found != "" {
		return " (did you mean " + found + "?)"
	}
	return ""
}

// distance counts the letters to insert, remove, replace or swap with the next one
// that lead from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			replace := rows[i-1][j-1]
			if from[i-1] != to[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
