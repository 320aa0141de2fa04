/* SPDX-License-Identifier: MIT */
#ifndef QUOTE_WORD_H
#define QUOTE_WORD_H

/*
 * A word that is not right, as GNU's tools show it: in quotation marks of the locale, with C's escapes for
 * what cannot be printed. In a static buffer, until the next call; what is too long is cut.
 */
const char *quote_word(const char *word);

#endif
