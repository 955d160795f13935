/* Breakpoints in a server, set by a library that is loaded before it (LD_PRELOAD).
 *
 * DISSENT_COVERAGE holds the number of an inherited descriptor, which is the map of the campaign (map.rs), and the number
 * of the worker. Freestanding: it makes its system calls itself and asks for no version of any symbol, so it works with
 * whatever C library and loader the server brings.
 */

#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "code coverage needs Linux on x86-64"
#endif

#define INT3 0xcc
#define TRAP 5
#define PAGE 4096
#define HEADER 4096

/* As in map.rs. */
struct header {
  char magic[8];
  uint64_t places;
  uint64_t hits;
  uint64_t id_length;
  char id[128];
  uint64_t traps;
  uint64_t arming_nanos;
  uint64_t spare[HEADER / 16 - 22];
  uint64_t armed[HEADER / 16];
};
_Static_assert(sizeof(struct header) == HEADER, "the header is a page");

static struct header *header;
static const uint32_t *places;
static uint8_t *flags;
static uint64_t *trail;
/* The bytes that breakpoints replaced, by the number of their place. */
static uint8_t *original;
static uintptr_t base;
static uint64_t worker;
/* How much of the trail was taken out of this process. */
static uint64_t cleared;

/* Every GNU C library has it, and others do without. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));

static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static int failed(long result) { return result < 0 && result > -4096; }

/* The kernel's own. */
struct action {
  void (*handler)(int, void *, void *);
  unsigned long flags;
  void (*restore)(void);
  unsigned long mask;
};

void dissent_restore(void) __attribute__((visibility("hidden")));
__asm__(".text\n.hidden dissent_restore\n.type dissent_restore,@function\ndissent_restore:\n"
        "mov $15, %eax\nsyscall\n");

static int handle(void (*handler)(int, void *, void *)) {
  const unsigned long with_info = 4, on_stack = 0x08000000, restart = 0x10000000, restorer = 0x04000000;
  struct action action = {handler, with_info | on_stack | restart | restorer, dissent_restore, 0};
  return !failed(call(SYS_rt_sigaction, TRAP, (long)&action, 0, 8, 0, 0));
}

/* The number of the place at an address, or -1. */
static long number_of(uintptr_t address) {
  long low = 0, high = (long)header->places - 1;
  if (address < base || address - base > UINT32_MAX) return -1;
  uint32_t wanted = (uint32_t)(address - base);
  while (low <= high) {
    long middle = (low + high) / 2;
    if (places[middle] == wanted) return middle;
    if (places[middle] < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/* Puts the byte back, notes the place, and steps back. Two threads may be at one breakpoint: both step back. */
static void on_trap(int signal, void *info, void *context) {
  (void)signal, (void)info;
  /* Behind flags, link and stack of the context there are the registers; this is the 17th. */
  uint64_t *next = (uint64_t *)((char *)context + 40) + 16;
  uintptr_t at = (uintptr_t)*next - 1;
  long number = number_of(at);
  if (number < 0 || original[number] == INT3) {
    /* The server's own: it ends as it would without us. */
    struct action standard = {0, 0x04000000, dissent_restore, 0};
    call(SYS_rt_sigaction, TRAP, (long)&standard, 0, 8, 0, 0);
    call(SYS_tgkill, call(SYS_getpid, 0, 0, 0, 0, 0, 0), call(SYS_gettid, 0, 0, 0, 0, 0, 0), TRAP, 0, 0, 0);
    return;
  }
  __atomic_store_n((uint8_t *)at, original[number], __ATOMIC_RELAXED);
  __atomic_fetch_add(&header->traps, 1, __ATOMIC_RELAXED);
  if (__atomic_exchange_n(&flags[number], 1, __ATOMIC_RELAXED) == 0) {
    uint64_t place = __atomic_fetch_add(&header->hits, 1, __ATOMIC_ACQ_REL);
    if (place < header->places)
      __atomic_store_n(&trail[place], (worker + 1) << 32 | (uint64_t)number, __ATOMIC_RELEASE);
  }
  *next = at;
}

/* Before a process forks it takes out what others have seen since the last time: its children would all pay again. */
static void before_fork(void) {
  uint64_t hits = __atomic_load_n(&header->hits, __ATOMIC_ACQUIRE);
  if (hits > header->places) hits = header->places;
  for (; cleared < hits; cleared++) {
    uint64_t entry = __atomic_load_n(&trail[cleared], __ATOMIC_ACQUIRE);
    if (entry != 0) {
      uint8_t *byte = (uint8_t *)(base + places[(uint32_t)entry]);
      if (*byte == INT3) __atomic_store_n(byte, original[(uint32_t)entry], __ATOMIC_RELAXED);
    }
  }
}

/* The digits of a number; what follows it is left in `text`. */
static uint64_t number_in(const char **text) {
  uint64_t number = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) number = 10 * number + (uint64_t)(**text - '0');
  if (**text == ' ') ++*text;
  return number;
}

static uint64_t now(void) {
  struct {
    int64_t seconds, nanos;
  } time = {0, 0};
  call(SYS_clock_gettime, 1, (long)&time, 0, 0, 0, 0);
  return (uint64_t)(time.seconds * 1000000000 + time.nanos);
}

static int begins(const char *text, const char *start) {
  while (*start)
    if (*text++ != *start++) return 0;
  return 1;
}

/* The value of a variable. */
static const char *find(char **environment, const char *name) {
  for (; *environment; environment++)
    if (begins(*environment, name)) {
      const char *value = *environment;
      while (*name++) value++;
      return value;
    }
  return NULL;
}

/* Takes a variable out of the environment. */
static void take(char **environment, const char *name) {
  char **to = environment;
  for (char **from = environment; *from; from++)
    if (!begins(*from, name)) *to++ = *from;
  *to = NULL;
}

/* Whether the program is the build that the map is of, by its build-id; one without is trusted. */
static int is_known(const struct dl_phdr_info *program) {
  if (header->id_length != 40) return 1;
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type != PT_NOTE) continue;
    const char *note = (const char *)(program->dlpi_addr + part->p_vaddr), *end = note + part->p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
      const uint8_t *bytes = (const uint8_t *)note + sizeof *head + ((head->n_namesz + 3) & ~3u);
      if (head->n_type == NT_GNU_BUILD_ID && head->n_descsz == 20 && head->n_namesz == 4) {
        for (int at = 0; at < 20; at++)
          if (header->id[2 * at] != "0123456789abcdef"[bytes[at] >> 4] ||
              header->id[2 * at + 1] != "0123456789abcdef"[bytes[at] & 15])
            return 0;
        return 1;
      }
      note = (const char *)bytes + ((head->n_descsz + 3) & ~3u);
    }
  }
  return 0;
}

struct found {
  int known, writable;
};

/* The first entry is the program itself: whether it has all places, and whether its code could be made writable. */
static int look(struct dl_phdr_info *program, size_t size, void *result) {
  (void)size;
  struct found *found = result;
  base = program->dlpi_addr;
  uint64_t inside = 0, count = header->places;
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    for (uint64_t at = 0; at < count; at++)
      inside += places[at] >= part->p_vaddr && places[at] < part->p_vaddr + part->p_memsz;
  }
  found->known = is_known(program) && inside == count;
  found->writable = found->known;
  for (int i = 0; found->known && i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t start = (base + part->p_vaddr) & ~(uintptr_t)(PAGE - 1), end = base + part->p_vaddr + part->p_memsz;
    if (failed(call(SYS_mprotect, (long)start, (long)(end - start), PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0)))
      found->writable = 0;
  }
  return 1;
}

/* GNU's loader hands over what `main` gets, too.
 *
 * A server may be started by other programs: a shell, or one that gives it a network of its own. They pass on what they
 * were given. Only the server itself takes the variables and the descriptor away: what it starts is not ours. */
__attribute__((constructor)) static void begin(int count_of_arguments, char **arguments, char **environment) {
  (void)count_of_arguments, (void)arguments;
  const char *given = find(environment, "DISSENT_COVERAGE=");
  if (!given) return;
  uint64_t start = now();
  long descriptor = (long)number_in(&given);
  worker = number_in(&given);
  uint64_t size = number_in(&given);
  long memory = call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (failed(memory)) return;
  header = (struct header *)memory;
  uint64_t count = header->places;
  places = (const uint32_t *)(memory + HEADER);
  flags = (uint8_t *)(memory + HEADER) + 4 * count;
  trail = (uint64_t *)(((uintptr_t)(flags + count) + 7) & ~(uintptr_t)7);
  struct found found = {0, 0};
  if (begins(header->magic, "dsntmap1")) dl_iterate_phdr(look, &found);
  if (!found.known) {
    call(SYS_munmap, memory, (long)size, 0, 0, 0, 0);
    return;
  }
  take(environment, "DISSENT_COVERAGE=");
  take(environment, "LD_PRELOAD=");
  call(SYS_close, descriptor, 0, 0, 0, 0, 0);
  long room = call(SYS_mmap, 0, (long)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!found.writable || failed(room)) return;
  original = (uint8_t *)room;
  for (uint64_t at = 0; at < count; at++) original[at] = *(uint8_t *)(base + places[at]);
  if (!handle(on_trap)) return;
  cleared = __atomic_load_n(&header->hits, __ATOMIC_ACQUIRE);
  for (uint64_t at = 0; at < count; at++)
    if (!flags[at] && original[at] != INT3) *(uint8_t *)(base + places[at]) = INT3;
  if (__register_atfork) __register_atfork(before_fork, NULL, NULL, NULL);
  __atomic_fetch_add(&header->arming_nanos, now() - start, __ATOMIC_ACQ_REL);
  __atomic_fetch_add(&header->armed[worker % (HEADER / 16)], 1, __ATOMIC_ACQ_REL);
}
