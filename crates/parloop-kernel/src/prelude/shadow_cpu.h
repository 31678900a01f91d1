/* Shadow memory: for each element that was touched, which instances of instructions wrote, read or updated it. An access is an error if
   the element was touched by an instance that comes later in the kernel as created, or by one that nothing orders it with: of another
   work-group of the launch, or of another work item of the group since the last barrier. One of the two must write, and updates do not
   conflict with each other. Instances are compared by their times, step by step. */
#include <sched.h>
enum { PARLOOP_READ = 0, PARLOOP_WRITE = 1, PARLOOP_UPDATE = 2 };
typedef struct {
    /* Lines: the instruction, the variable, a name for each step of the time, empty for those that are places. Null: nobody. */
    const char *site;
    int64_t group, item, epoch;
    int32_t launch, how;
    /* Not 0: instances of equal numbers race on purpose. */
    int32_t own;
    /* Which steps are values of loops. */
    uint32_t loops;
    int64_t time[];
} parloop_instance;
/* How an access is done, beyond its instance. */
typedef struct { int64_t is_local, axes, turn; } parloop_access;
/* What is known of an element: the last write; of reads, then of updates: the latest by its time, the last one, and one before that which
   nothing orders with the last one. */
typedef struct { const void *at; int64_t copy; } parloop_element;
typedef struct {
    char lock;
    char *elements;
    uint32_t *slots;
    size_t count, room, slot_count;
} parloop_shard;
enum { PARLOOP_SHARDS = 64, PARLOOP_SEEN = 3 };
static struct {
    int64_t steps, records;
    int32_t launch;
    parloop_shard shards[PARLOOP_SHARDS];
} parloop_shadow;
/* Barriers that this thread passed. */
static _Thread_local int64_t parloop_epoch;

__attribute__((destructor)) static void parloop_shadow_empty(void) {
    for (int i = 0; i < PARLOOP_SHARDS; i++) {
        parloop_shard *shard = &parloop_shadow.shards[i];
        free(shard->elements);
        free(shard->slots);
        memset(shard, 0, sizeof *shard);
    }
}
static inline void parloop_shadow_begin(int64_t steps, int64_t records) {
    parloop_shadow_empty();
    parloop_shadow.steps = steps;
    parloop_shadow.records = records;
    parloop_shadow.launch = 1;
}
#define PARLOOP_SHADOW_BEGIN(STEPS, RECORDS) parloop_shadow_begin((STEPS), (RECORDS))
#define PARLOOP_SHADOW_NEXT() ((void)parloop_shadow.launch++)
#define PARLOOP_SHADOW_BARRIER() ((void)parloop_epoch++)

static inline size_t parloop_instance_size(void) { return sizeof(parloop_instance) + (size_t)parloop_shadow.steps * sizeof(int64_t); }
static inline size_t parloop_element_size(void) {
    return sizeof(parloop_element) + (size_t)parloop_shadow.records * parloop_instance_size();
}
static inline parloop_instance *parloop_record(parloop_element *element, int64_t number) {
    return (parloop_instance *)((char *)(element + 1) + (size_t)number * parloop_instance_size());
}
static inline uint64_t parloop_hash(const void *at, int64_t copy) {
    uint64_t hash = (uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15u + (uint64_t)copy * 0xc2b2ae3d27d4eb4fu;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ (hash >> 32);
}
/* The place of an element among the slots of its shard: its own, or an empty one. */
static uint32_t *parloop_slot(const parloop_shard *shard, const void *at, int64_t copy) {
    size_t slot = (size_t)(parloop_hash(at, copy) / PARLOOP_SHARDS) & (shard->slot_count - 1);
    for (;; slot = (slot + 1) & (shard->slot_count - 1)) {
        if (shard->slots[slot] == 0) return &shard->slots[slot];
        const parloop_element *element = (const parloop_element *)(shard->elements + (size_t)(shard->slots[slot] - 1) * parloop_element_size());
        if (element->at == at && element->copy == copy) return &shard->slots[slot];
    }
}
/* The element, which is added if it was not there; null if there is no memory for it. */
static parloop_element *parloop_find(parloop_shard *shard, const void *at, int64_t copy) {
    if (shard->count == shard->room) {
        size_t room = shard->room ? 2 * shard->room : 16, slot_count = 4 * room;
        char *elements = room < UINT32_MAX ? (char *)realloc(shard->elements, room * parloop_element_size()) : 0;
        if (!elements) return 0;
        shard->elements = elements;
        uint32_t *slots = (uint32_t *)calloc(slot_count, sizeof *slots);
        if (!slots) return 0;
        free(shard->slots);
        shard->slots = slots;
        shard->slot_count = slot_count;
        shard->room = room;
        for (size_t i = 0; i < shard->count; i++) {
            const parloop_element *known = (const parloop_element *)(elements + i * parloop_element_size());
            *parloop_slot(shard, known->at, known->copy) = (uint32_t)(i + 1);
        }
    }
    uint32_t *slot = parloop_slot(shard, at, copy);
    if (*slot == 0) {
        *slot = (uint32_t)++shard->count;
        parloop_element *element = (parloop_element *)(shard->elements + (shard->count - 1) * parloop_element_size());
        memset(element, 0, parloop_element_size());
        element->at = at;
        element->copy = copy;
    }
    return (parloop_element *)(shard->elements + (size_t)(*slot - 1) * parloop_element_size());
}

typedef enum { PARLOOP_BEFORE, PARLOOP_SAME, PARLOOP_AFTER, PARLOOP_INCOMPARABLE, PARLOOP_OTHER_TURN } parloop_relation;
/* When `one` ran as created, as `other` sees it. Only instances of one turn have an order. */
static parloop_relation parloop_compare(const parloop_instance *one, const parloop_instance *other, int64_t turn) {
    for (int64_t step = 0; step < parloop_shadow.steps; step++) {
        if (((one->loops ^ other->loops) >> step) & 1) return PARLOOP_INCOMPARABLE;
        if (one->time[step] == other->time[step]) continue;
        if (step < turn) return PARLOOP_OTHER_TURN;
        return one->time[step] < other->time[step] ? PARLOOP_BEFORE : PARLOOP_AFTER;
    }
    return PARLOOP_SAME;
}
/* How far apart two instances run, if nothing orders them: 2 in different work-groups, 1 as different work items. */
static int parloop_apart(const parloop_instance *one, const parloop_instance *other) {
    if (one->launch != other->launch) return 0;
    if (one->group != other->group) return 2;
    return one->epoch == other->epoch && one->item != other->item;
}
static const char *const parloop_causes[] = {
    "the second one runs first",
    "work items run in any order between barriers",
    "work-groups run in any order",
};
/* Why two accesses must not both be done, if so. */
static const char *parloop_cause(const parloop_instance *before, const parloop_instance *now, const parloop_access *access) {
    if (!before->site || (now->own && now->own == before->own)) return 0;
    if (access->is_local && before->launch != now->launch) return 0;
    const parloop_relation relation = parloop_compare(before, now, access->turn);
    if (relation == PARLOOP_SAME || relation == PARLOOP_OTHER_TURN) return 0;
    const int apart = parloop_apart(before, now);
    return apart ? parloop_causes[apart] : relation == PARLOOP_AFTER ? parloop_causes[0] : 0;
}

typedef struct { char *at, *end; } parloop_text;
__attribute__((format(printf, 2, 3))) static void parloop_add(parloop_text *text, const char *format, ...) {
    __builtin_va_list values;
    __builtin_va_start(values, format);
    const int length = vsnprintf(text->at, (size_t)(text->end - text->at), format, values);
    __builtin_va_end(values);
    if (length > 0) text->at += length < text->end - text->at ? length : text->end - text->at - 1;
}
static const char *parloop_next_line(const char *line) { return line + strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0); }
static void parloop_add_instance(parloop_text *text, const parloop_instance *instance, int is_only) {
    const char *name = parloop_next_line(parloop_next_line(instance->site));
    int count = 0;
    if (!is_only) parloop_add(text, "`%.*s`", (int)strcspn(instance->site, "\n"), instance->site);
    for (int64_t step = 0; step < parloop_shadow.steps; step++, name = parloop_next_line(name)) {
        const int length = (int)strcspn(name, "\n");
        if (length == 0) continue;
        parloop_add(text, count ? ", %.*s = %lld" : is_only ? "`%.*s = %lld" : " at `%.*s = %lld", length, name, (long long)instance->time[step]);
        count++;
    }
    if (count) parloop_add(text, "`");
    else if (is_only) parloop_add(text, "it");
}
__attribute__((noinline, cold)) static void parloop_conflict(const parloop_instance *before, const parloop_instance *now, const char *cause,
                                                            const parloop_access *access, const int64_t *indices) {
    int64_t nobody = 0;
    if (!__atomic_compare_exchange_n(&parloop_check_record.claimed, &nobody, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    const int is_back = parloop_compare(before, now, access->turn) == PARLOOP_AFTER;
    const parloop_instance *first = is_back ? now : before, *second = is_back ? before : now;
    const size_t length = strcspn(now->site, "\n");
    const int is_only = strncmp(before->site, now->site, length + 1) == 0;
    parloop_text text = {parloop_check_record.text, parloop_check_record.text + sizeof parloop_check_record.text};
    parloop_check_record.site = -1;
    if (is_only) parloop_add(&text, "instruction `%.*s`: ", (int)length, now->site);
    parloop_add_instance(&text, first, is_only);
    const char *variable = parloop_next_line(now->site);
    parloop_add(&text, " %s `%.*s", first->how == PARLOOP_READ ? "reads" : "writes", (int)strcspn(variable, "\n"), variable);
    for (int64_t axis = 0; axis < access->axes; axis++) parloop_add(&text, "%s%lld", axis ? ", " : "[", (long long)indices[axis]);
    parloop_add(&text, access->axes ? "]`, which " : "`, which ");
    parloop_add_instance(&text, second, is_only);
    parloop_add(&text, " %s; %s", second->how == PARLOOP_READ ? "reads" : "overwrites", cause);
}
/* Remembers a read or an update among those of its kind. */
static void parloop_remember(parloop_instance *latest, const parloop_instance *now, int64_t turn) {
    const size_t size = parloop_instance_size();
    parloop_instance *last = (parloop_instance *)((char *)latest + size), *other = (parloop_instance *)((char *)last + size);
    if (!latest->site || parloop_compare(latest, now, turn) != PARLOOP_AFTER) memcpy(latest, now, size);
    const int apart = last->site ? parloop_apart(last, now) : 0;
    if (apart > 0 && apart >= (other->site ? parloop_apart(other, now) : 0)) memcpy(other, last, size);
    memcpy(last, now, size);
}
/* The values are the indices of the element, then the time. Always 1: what is accessed is the same as without checks. */
__attribute__((noinline)) static int parloop_touch(const parloop_instance *said, const parloop_access *access, const void *at, const int64_t *values) {
    const int64_t records = parloop_shadow.records, copy = access->is_local ? said->group + 1 : 0;
    int64_t space[(sizeof *said + sizeof(int64_t) - 1) / sizeof(int64_t) + (size_t)parloop_shadow.steps];
    parloop_instance *now = (parloop_instance *)space;
    *now = *said;
    now->launch = parloop_shadow.launch;
    now->epoch = parloop_epoch;
    memcpy(now->time, values + access->axes, (size_t)parloop_shadow.steps * sizeof(int64_t));
    parloop_shard *shard = &parloop_shadow.shards[parloop_hash(at, copy) % PARLOOP_SHARDS];
    for (int spins = 1; __atomic_test_and_set(&shard->lock, __ATOMIC_ACQUIRE); spins++) {
        if (spins % 64 == 0) sched_yield();
    }
    parloop_element *element = parloop_find(shard, at, copy);
    if (!element) {
        int64_t nobody = 0;
        if (__atomic_compare_exchange_n(&parloop_check_record.claimed, &nobody, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            parloop_check_record.site = -1;
            snprintf(parloop_check_record.text, sizeof parloop_check_record.text, "out of memory for the accesses that are in doubt");
        }
    } else {
        const int how = now->how;
        for (int64_t number = 0; number < records; number++) {
            const int kind = number == 0 ? PARLOOP_WRITE : number <= PARLOOP_SEEN ? PARLOOP_READ : PARLOOP_UPDATE;
            if (how == kind && how != PARLOOP_WRITE) continue;
            const parloop_instance *before = parloop_record(element, number);
            const char *cause = parloop_cause(before, now, access);
            if (cause) parloop_conflict(before, now, cause, access, values);
        }
        if (how == PARLOOP_WRITE) memcpy(parloop_record(element, 0), now, parloop_instance_size());
        else parloop_remember(parloop_record(element, how == PARLOOP_READ ? 1 : 1 + PARLOOP_SEEN), now, access->turn);
    }
    __atomic_clear(&shard->lock, __ATOMIC_RELEASE);
    return 1;
}
#ifdef __cplusplus
template <class... T> static inline int parloop_touch_at(parloop_instance said, parloop_access access, const void *at, T... values) {
    const int64_t all[] = {(int64_t)values..., 0};
    return parloop_touch(&said, &access, at, all);
}
static inline parloop_instance parloop_said(const char *site, int32_t how, int64_t group, int64_t item, int32_t own, uint32_t loops) {
    parloop_instance said = {};
    said.site = site, said.how = how, said.group = group, said.item = item, said.own = own, said.loops = loops;
    return said;
}
#define PARLOOP_TOUCH(HOW, AT, SITE, GROUP, ITEM, OWN, LOOPS, LOCAL, AXES, TURN, ...) \
    parloop_touch_at(parloop_said((SITE), (HOW), (int64_t)(GROUP), (int64_t)(ITEM), (OWN), (LOOPS)), \
                     parloop_access{(LOCAL), (AXES), (TURN)}, (AT), __VA_ARGS__)
#else
#define PARLOOP_TOUCH(HOW, AT, SITE, GROUP, ITEM, OWN, LOOPS, LOCAL, AXES, TURN, ...) \
    parloop_touch(&(const parloop_instance){.site = (SITE), .how = (HOW), .group = (GROUP), .item = (ITEM), .own = (OWN), .loops = (LOOPS)}, \
                  &(const parloop_access){(LOCAL), (AXES), (TURN)}, (AT), (const int64_t[]){__VA_ARGS__})
#endif
