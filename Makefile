# gush: `make` builds, `make ladder` shows how fast pipes are here, `make check` runs the fast tests.
# Needs gcc (or clang), make and libc. `make deps` (as root, apt) installs what the rest wants.
include config.mk

# V=1 shows the commands, make -s nothing.
Q := $(if $(V),,@)
quiet := $(V)$(findstring s,$(firstword -$(MAKEFLAGS)))
SHOW = $(if $(quiet),,@printf '  %-4s %s\n' $(1) $@)

ALL_CPPFLAGS = -D_GNU_SOURCE -DGUSH_VERSION='"$(VERSION)"' -DGUSH_LIBEXECDIR='"$(LIBEXECDIR)"' \
            -Isrc -Itools/common -Itools/pair -Ilab -Itests $(CPPFLAGS)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_CFLAGS = -std=gnu17 $(WARN) $(if $(WERROR),-Werror) $(CFLAGS) $(SANFLAGS)
ALL_LDFLAGS = $(SANFLAGS) $(LDFLAGS)

LIB_SRC    := $(wildcard src/*.c)
COMMON_SRC := $(wildcard tools/common/*.c)
PAIR_SRC   := $(wildcard tools/pair/*.c)
GUSH_SRC   := $(wildcard tools/*.c)
LAB_SRC    := $(wildcard lab/*.c)
UNIT_SRC   := $(wildcard tests/unit/*.c)
FAULT_SRC  := $(wildcard tests/fault/*.c)
HELPER_SRC := $(wildcard tests/helpers/*.c)
C_SRC      := $(LIB_SRC) $(COMMON_SRC) $(PAIR_SRC) $(GUSH_SRC) $(LAB_SRC) $(UNIT_SRC) $(FAULT_SRC) \
              $(HELPER_SRC) docs/template.c
MAN        := $(wildcard man/*.[1-8])

obj = $(patsubst %.c,$(O)/%.o,$(1))

all: $(O)/gush $(O)/gush-lab $(O)/libgush.a $(O)/compile_commands.json

$(O)/libgush.a: $(call obj,$(LIB_SRC))
	$(call SHOW,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# What both binaries and the tests share: options, diagnostics, and the two ends of a measured pipe.
$(O)/libcommon.a: $(call obj,$(COMMON_SRC) $(PAIR_SRC))
	$(call SHOW,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# The laboratory but for its main, so that tests can link it.
$(O)/liblab.a: $(call obj,$(filter-out lab/main.c,$(LAB_SRC)))
	$(call SHOW,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

LIBS := $(O)/libcommon.a $(O)/libgush.a

$(O)/gush: $(call obj,$(GUSH_SRC)) $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

$(O)/gush-lab: $(call obj,lab/main.c) $(O)/liblab.a $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

UNIT_BIN   := $(patsubst tests/%.c,$(O)/tests/%,$(UNIT_SRC))
HELPER_BIN := $(patsubst tests/%.c,$(O)/tests/%,$(HELPER_SRC))
$(UNIT_BIN): $(O)/tests/%: $(O)/tests/%.o $(O)/liblab.a $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^
$(HELPER_BIN): $(O)/tests/%: $(O)/tests/%.o $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# The same objects, but each call named in tests/fault/wrapped goes through tests/fault/inject.c first.
comma := ,
WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(shell cat tests/fault/wrapped 2>/dev/null))
FAULT_PARTS := tests/fault/inject.c $(wildcard tests/fault/*_case.c)
FAULT_BIN := $(patsubst tests/%.c,$(O)/tests/%,$(filter-out $(FAULT_PARTS),$(FAULT_SRC)))
$(FAULT_BIN): $(O)/tests/%: $(O)/tests/%.o $(call obj,$(FAULT_PARTS)) $(LIBS) tests/fault/wrapped
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(WRAP) -o $@ $(filter-out tests/fault/wrapped,$^)

# docs/template.c is where a new sub-command starts: it must stay one that builds and runs.
$(O)/tests/template: $(O)/docs/template.o $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

$(O)/%.o: %.c $(O)/flags
	$(call SHOW,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Objects are made again when what they are made with changes.
flags_now := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(O)
	@printf '%s\n' '$(subst ','\'',$(flags_now))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(flags_now))' > $@

# For clangd and clang-tidy -p.
$(O)/compile_commands.json: Makefile config.mk $(C_SRC)
	@mkdir -p $(@D)
	@{ printf '['; sep=; for f in $(C_SRC); do \
	  printf '%s\n{"directory":"%s","file":"%s","command":"%s"}' "$$sep" "$(CURDIR)" "$$f" \
	    "$$(printf '%s' '$(subst ','\'',$(CC) $(ALL_CPPFLAGS) -std=gnu17 $(WARN) $(CFLAGS))' | \
	      sed 's/[\\"]/\\&/g') -c $$f"; sep=,; done; printf '\n]\n'; } > $@

ladder: all
	$(O)/gush ladder $(LADDER_FLAGS)

TESTS = $(UNIT_BIN) $(FAULT_BIN) $(wildcard tests/cli/*.sh)
check-build: all $(UNIT_BIN) $(FAULT_BIN) $(HELPER_BIN) $(O)/tests/template
check: check-build
	@O=$(O) SAN='$(SAN)' CC='$(CC)' sh tests/run $(TESTS)

deps:
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(shell sed 's/#.*//' .ci/packages)

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(COMPDIR)
	install $(O)/gush $(DESTDIR)$(BINDIR)/gush
	install $(O)/gush-lab $(DESTDIR)$(LIBEXECDIR)/gush-lab
	install -m 644 completions/gush.bash $(DESTDIR)$(COMPDIR)/gush
	for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/gush $(DESTDIR)$(LIBEXECDIR)/gush-lab $(DESTDIR)$(COMPDIR)/gush
	for m in $(MAN); do rm -f $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done

clean:
	rm -rf $(O)

help:
	@echo 'make            build everything into $(O)/'
	@echo 'make ladder     build, then show how fast pipes are here (LADDER_FLAGS="--quick ...")'
	@echo 'make check      build, then run the fast tests'
	@echo 'make deps       install what the other tests and CI want (root, apt)'
	@echo 'make install    into $(DESTDIR)$(PREFIX); uninstall takes it away again'
	@echo 'make clean'
	@echo 'Variables: O, PREFIX, DESTDIR, CC, CFLAGS, CPPFLAGS, LDFLAGS, SAN=address,undefined, WERROR=1, V=1'

FORCE:
.PHONY: help all ladder check check-build deps install uninstall clean FORCE
-include $(patsubst %.c,$(O)/%.d,$(C_SRC))
