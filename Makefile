# gush: `make` builds, `make ladder` shows how fast pipes are here, `make check` runs the fast tests.
# Needs gcc (or clang), make and libc. `make deps` (as root, apt) installs what the rest wants.
include config.mk

# V=1 shows the commands, make -s nothing.
Q := $(if $(V),,@)
quiet := $(V)$(findstring s,$(firstword -$(MAKEFLAGS)))
SHOW = $(if $(quiet),,@printf '  %-4s %s\n' $(1) $@)

ALL_CPPFLAGS = -D_GNU_SOURCE -DGUSH_VERSION='"$(VERSION)"' -DGUSH_LIBEXECDIR='"$(LIBEXECDIR)"' \
            -D_FILE_OFFSET_BITS=64 -Iinclude -Isrc -Itools/common -Itools/pair -Ilab -Itests $(CPPFLAGS)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_CFLAGS = -std=gnu17 -pthread $(WARN) $(if $(WERROR),-Werror) $(CFLAGS) $(SANFLAGS)
ALL_LDFLAGS = -pthread $(SANFLAGS) $(LDFLAGS)

LIB_SRC    := $(wildcard src/*.c)
COMMON_SRC := $(wildcard tools/common/*.c)
PAIR_SRC   := $(wildcard tools/pair/*.c)
GUSH_SRC   := $(wildcard tools/*.c tools/cat/*.c)
LAB_SRC    := $(wildcard lab/*.c)
UNIT_SRC   := $(wildcard tests/unit/*.c)
FAULT_SRC  := $(wildcard tests/fault/*.c)
KINDS_SRC  := $(wildcard tests/kinds/*.c tests/fuzz/*.c)
GAUNTLET_SRC := $(wildcard tests/gauntlet/*.c)
HELPER_SRC := $(wildcard tests/helpers/*.c)
VM_SRC     := tests/vm/init.c
C_SRC      := $(VM_SRC) $(LIB_SRC) $(COMMON_SRC) $(PAIR_SRC) $(GUSH_SRC) $(LAB_SRC) $(UNIT_SRC) $(FAULT_SRC) $(KINDS_SRC) \
              $(GAUNTLET_SRC) $(HELPER_SRC) docs/template.c
MAN        := $(wildcard man/*.[1-8])
MAN3       := $(wildcard man/*.3)
# The names in a page's NAME section: each becomes a link to it.
MAN_NAMES   = /^\.Sh NAME/,/^\.Nd/s/^\.Nm \(gush_[a-z_]*\).*/\1/p

obj = $(patsubst %.c,$(O)/%.o,$(1))

all: $(O)/gush $(O)/gush-lab $(O)/libgush.a $(O)/libgush.so $(O)/compile_commands.json

$(O)/libgush.a: $(call obj,$(LIB_SRC))
	$(call SHOW,AR)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# The shared library has objects of its own, position-independent, and shows what src/libgush.map names.
$(O)/libgush.so.$(SOVERSION): $(patsubst src/%.c,$(O)/pic/%.o,$(LIB_SRC)) src/libgush.map
	$(call SHOW,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libgush.so.$(SOVERSION) -Wl,--version-script=src/libgush.map \
	  $(if $(SAN),,-Wl,-z,defs) -o $@ $(filter %.o,$^)

$(O)/libgush.so: $(O)/libgush.so.$(SOVERSION)
	$(call SHOW,LN)
	$(Q)ln -sf libgush.so.$(SOVERSION) $@

$(O)/pic/%.o: src/%.c $(O)/flags
	$(call SHOW,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(O)/gush.pc: gush.pc.in config.mk FORCE
	@sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' $< > $@

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
FAULT_PARTS := $(wildcard tests/fault/inject*.c tests/fault/*_case.c)
FAULT_BIN := $(patsubst tests/%.c,$(O)/tests/%,$(filter-out $(FAULT_PARTS),$(FAULT_SRC)))
$(FAULT_BIN): $(O)/tests/%: $(O)/tests/%.o $(call obj,$(FAULT_PARTS)) $(LIBS) tests/fault/wrapped
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(WRAP) -o $@ $(filter-out tests/fault/wrapped,$^)

# Descriptors of every kind: the programs share their ends.
KINDS_PARTS := tests/kinds/ends.c tests/kinds/pairs.c tests/kinds/drive.c tests/kinds/fuse.c tests/kinds/hold.c tests/kinds/words.c
KINDS_BIN := $(patsubst tests/%.c,$(O)/tests/%,$(filter-out $(KINDS_PARTS),$(KINDS_SRC)))
$(KINDS_BIN): $(O)/tests/%: $(O)/tests/%.o $(call obj,$(KINDS_PARTS)) $(LIBS)
	$(call SHOW,LINK)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# Producers, and our tools as such, through middlemen who hold pages. The same again with bugs planted at the seam of system calls.
GAUNTLET_BIN := $(O)/tests/gauntlet/main $(O)/tests/gauntlet/plants
GAUNTLET_PARTS := $(filter-out %/main.c %/plants.c %/lie.c,$(GAUNTLET_SRC))
GAUNTLET_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(shell cat tests/gauntlet/wrapped))
$(O)/tests/gauntlet/main: $(O)/tests/gauntlet/main.o $(call obj,$(GAUNTLET_PARTS)) $(LIBS)
	$(call SHOW,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^
$(O)/tests/gauntlet/plants: $(call obj,tests/gauntlet/plants.c tests/gauntlet/lie.c $(GAUNTLET_PARTS)) $(LIBS) \
                            tests/gauntlet/wrapped
	$(call SHOW,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) $(GAUNTLET_WRAP) -o $@ $(filter-out %/wrapped,$^)

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

# Guided by coverage; a finding is left in $(O)/fuzz. SECONDS=600 says for how long, FUZZ=consumer what.
SECONDS ?= 60
FUZZ ?= transfer
fuzz:
	$(Q)mkdir -p $(O)/fuzz/corpus-$(FUZZ)
	$(Q)clang -g -O1 -std=gnu17 -pthread -DWITH_LIBFUZZER $(ALL_CPPFLAGS) -Itests/fuzz \
	  -fsanitize=fuzzer,address -o $(O)/fuzz/$(FUZZ) tests/fuzz/$(FUZZ).c $(LIB_SRC)
	cd $(O)/fuzz && ./$(FUZZ) -max_total_time=$(SECONDS) -max_len=2000 -timeout=30 corpus-$(FUZZ)

ladder: all
	$(O)/gush ladder $(LADDER_FLAGS)

TESTS = $(UNIT_BIN) $(FAULT_BIN) $(KINDS_BIN) $(GAUNTLET_BIN) $(wildcard tests/abi/*.sh tests/cli/*.sh tests/conform/*.sh tests/kinds/*.sh)
check-build: all $(UNIT_BIN) $(FAULT_BIN) $(KINDS_BIN) $(GAUNTLET_BIN) $(HELPER_BIN) $(O)/tests/template
check: check-build
	@O=$(O) SAN='$(SAN)' CC='$(CC)' sh tests/run $(TESTS)

# For minutes. GAUNTLET_FLAGS="--seconds N --seed N", or "--soak N"; a failure says how to see it again.
GAUNTLET_FLAGS ?= --seconds 180
check-gauntlet: $(GAUNTLET_BIN) $(O)/gush
	$(O)/tests/gauntlet/main $(GAUNTLET_FLAGS)

# On another kernel, under emulation (tests/vm/run.sh): KERNEL=vmlinuz, or Debian's. Static, since nothing else is there.
VM_O := $(O)/vm/static
VM_PROGRAMS := $(patsubst %,$(VM_O)/tests/%,vm/init $(shell sed 's/\#.*//' tests/vm/programs))
$(O)/tests/vm/init: $(O)/tests/vm/init.o
	$(call SHOW,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^
check-vm:
	$(Q)$(MAKE) O=$(VM_O) SAN= LDFLAGS='$(LDFLAGS) -static' $(VM_O)/gush $(VM_PROGRAMS)
	@O=$(O) KERNEL='$(KERNEL)' TEST_TIMEOUT=1000 sh tests/run tests/vm/run.sh

deps:
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(shell sed 's/#.*//' .ci/packages)

install: all $(O)/gush.pc
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(COMPDIR) $(DESTDIR)$(INCLUDEDIR) \
	  $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 include/gush.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(O)/libgush.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(O)/libgush.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libgush.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgush.so
	install -m 644 $(O)/gush.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install $(O)/gush $(DESTDIR)$(BINDIR)/gush
	install $(O)/gush-lab $(DESTDIR)$(LIBEXECDIR)/gush-lab
	install -m 644 completions/gush.bash $(DESTDIR)$(COMPDIR)/gush
	for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done
	for m in $(MAN3); do for n in $$(sed -n '$(MAN_NAMES)' $$m); do \
	  [ -e $(DESTDIR)$(MANDIR)/man3/$$n.3 ] || ln -s $${m##*/} $(DESTDIR)$(MANDIR)/man3/$$n.3; done; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/gush $(DESTDIR)$(LIBEXECDIR)/gush-lab $(DESTDIR)$(COMPDIR)/gush \
	  $(DESTDIR)$(INCLUDEDIR)/gush.h $(DESTDIR)$(LIBDIR)/libgush.a $(DESTDIR)$(LIBDIR)/libgush.so \
	  $(DESTDIR)$(LIBDIR)/libgush.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/pkgconfig/gush.pc
	for m in $(MAN3); do for n in $$(sed -n '$(MAN_NAMES)' $$m); do \
	  rm -f $(DESTDIR)$(MANDIR)/man3/$$n.3; done; done
	for m in $(MAN); do rm -f $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done

clean:
	rm -rf $(O)

help:
	@echo 'make            build everything into $(O)/'
	@echo 'make ladder     build, then show how fast pipes are here (LADDER_FLAGS="--quick ...")'
	@echo 'make check      build, then run the fast tests'
	@echo 'make check-gauntlet   looks for minutes for bytes that change in flight (GAUNTLET_FLAGS)'
	@echo 'make check-vm   some of them on another kernel, under qemu (KERNEL=vmlinuz; else Debian'"'"'s)'
	@echo 'make fuzz       random operations on transfers, or FUZZ=consumer (clang), SECONDS=60'
	@echo 'make deps       install what the other tests and CI want (root, apt)'
	@echo 'make install    into $(DESTDIR)$(PREFIX); uninstall takes it away again'
	@echo 'make clean'
	@echo 'Variables: O, PREFIX, DESTDIR, CC, CFLAGS, CPPFLAGS, LDFLAGS, SAN=address,undefined, WERROR=1, V=1'

FORCE:
.PHONY: help all ladder check check-gauntlet check-vm check-build deps fuzz install uninstall clean FORCE
-include $(patsubst src/%.c,$(O)/pic/%.d,$(LIB_SRC))
-include $(patsubst %.c,$(O)/%.d,$(C_SRC))
