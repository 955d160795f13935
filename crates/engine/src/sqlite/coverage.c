/* SQLite with a counter on every edge of its code, readable from outside.
 *
 * The compiler (-fprofile-arcs) counts, and hands its tables to __gcov_init when the library is loaded. Its own
 * runtime would write them to a file at exit; this one only keeps where they are. Compiled as one unit with
 * SQLite's source, which build.rs includes behind this text.
 */

#include <stddef.h>

#if defined(__clang__) || !defined(__GNUC__)
#error "coverage needs gcc: set CC=gcc"
#elif __GNUC__ < 10 || __GNUC__ > 15
#error "coverage knows the tables of gcc 10 to 15 only"
#endif

/* Kinds of counters; edges are the first, and the only one that is compiled in. */
#if __GNUC__ == 15
#define KINDS 10
#elif __GNUC__ == 14
#define KINDS 9
#else
#define KINDS 8
#endif

struct counters {
  unsigned count;
  long long *values;
};

struct function {
  const struct unit *unit;
  unsigned ident, lines, graph;
  struct counters edges;
};

struct unit {
  unsigned version;
  struct unit *next;
  unsigned stamp;
#if __GNUC__ >= 12
  unsigned checksum;
#endif
  const char *file;
  void (*merge[KINDS])(long long *, unsigned);
  unsigned functions;
  const struct function *const *table;
};

#define UNCOUNTED __attribute__((no_profile_instrument_function))

static const struct unit *counted;

UNCOUNTED void __gcov_init(struct unit *unit) { counted = unit; }
UNCOUNTED void __gcov_exit(void) {}
UNCOUNTED void __gcov_merge_add(long long *values, unsigned count) { (void)values, (void)count; }

/* The counters of the function of this number: 0 behind the last one. */
UNCOUNTED int dissent_counters(unsigned number, unsigned *count, long long **values) {
  const struct function *function;
  if (counted == NULL || number >= counted->functions) return 0;
  function = counted->table[number];
  *count = 0;
  if (function != NULL && function->unit == counted) {
    *count = function->edges.count;
    *values = function->edges.values;
  }
  return 1;
}
