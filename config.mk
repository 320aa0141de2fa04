# What a packager may want to change. Every variable can also be given to make: make PREFIX=/usr O=out
VERSION = 0.3.0
# Of the shared library's interface; 0 promises nothing before 1.0.
SOVERSION = 0

O          ?= build
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/gush
INCLUDEDIR ?= $(PREFIX)/include
LIBDIR     ?= $(PREFIX)/lib
MANDIR     ?= $(PREFIX)/share/man
COMPDIR    ?= $(PREFIX)/share/bash-completion/completions

CFLAGS  ?= -O2 -g
WARN    ?= -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
# SAN=address,undefined builds everything with those sanitizers.
SAN     ?=
# WERROR=1, as CI has it, turns warnings into errors.
WERROR  ?=
