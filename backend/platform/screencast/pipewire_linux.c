#include "pipewire_linux.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What is used of libpipewire-0.3 and SPA, whose interfaces are stable: pipewire/stream.h, spa/buffer/buffer.h,
// spa/buffer/meta.h, spa/pod/pod.h, spa/param/format.h. The library is loaded when pictures are wanted, so that Deskbell
// starts without it, and is built without its headers.
struct pod { uint32_t size, type; };
struct hook { void *link[2]; struct { const void *funcs; void *data; } cb; void (*removed)(struct hook *); void *priv; };
struct chunk { uint32_t offset, size; int32_t stride, flags; };
struct data { uint32_t type, flags; int64_t fd; uint32_t mapoffset, maxsize; void *data; struct chunk *chunk; };
struct meta { uint32_t type, size; void *data; };
struct buffer { uint32_t n_metas, n_datas; struct meta *metas; struct data *datas; };
struct pw_buffer { struct buffer *buffer; void *user_data; uint64_t size, requested; };
struct region { int32_t x, y; uint32_t width, height; };
struct header { uint32_t flags, offset; int64_t pts, dts_offset; uint64_t seq; };
struct events {
	uint32_t version;
	void (*destroy)(void *);
	void (*state_changed)(void *, int old, int state, const char *error);
	void (*control_info)(void *, uint32_t, const void *);
	void (*io_changed)(void *, uint32_t, void *, uint32_t);
	void (*param_changed)(void *, uint32_t id, const struct pod *);
	void (*add_buffer)(void *, struct pw_buffer *);
	void (*remove_buffer)(void *, struct pw_buffer *);
	void (*process)(void *);
	void (*drained)(void *);
	void (*command)(void *, const void *);
	void (*trigger_done)(void *);
};
enum {
	TYPE_ID = 3, TYPE_INT = 4, TYPE_RECTANGLE = 10, TYPE_FRACTION = 11, TYPE_OBJECT = 15, TYPE_CHOICE = 19,
	CHOICE_RANGE = 1, CHOICE_ENUM = 3, CHOICE_FLAGS = 4,
	OBJECT_FORMAT = 0x40003, OBJECT_BUFFERS = 0x40004, OBJECT_META = 0x40005,
	PARAM_ENUM_FORMAT = 3, PARAM_FORMAT = 4, PARAM_BUFFERS = 5, PARAM_META = 6,
	MEDIA_TYPE = 1, MEDIA_SUBTYPE = 2, VIDEO_FORMAT = 0x20001, VIDEO_SIZE = 0x20003, VIDEO_RATE = 0x20004, VIDEO_MAX_RATE = 0x20005,
	VIDEO = 2, RAW = 1, RGBX = 7, BGRX = 8, RGBA = 11, BGRA = 12,
	BUFFERS_DATA_TYPE = 6, MEMORY_POINTER = 1, MEMORY_FD = 2,
	META_TYPE = 1, META_SIZE = 2, META_HEADER = 1, META_CROP = 2, HEADER_CORRUPTED = 2, CHUNK_CORRUPTED = 1,
	STATE_ERROR = -1, STATE_UNCONNECTED = 0,
	INPUT = 0, AUTOCONNECT = 1, MAP_BUFFERS = 4, DONT_RECONNECT = 128,
	RATE = 10, // pictures a second, at most
};

static struct {
	void (*init)(int *, char ***);
	void *(*loop_new)(const char *, const void *);
	void *(*loop_get)(void *);
	int (*loop_start)(void *);
	void (*loop_stop)(void *), (*loop_lock)(void *), (*loop_unlock)(void *), (*loop_destroy)(void *);
	void *(*context_new)(void *, void *, size_t);
	void (*context_destroy)(void *);
	void *(*context_connect_fd)(void *, int, void *, size_t);
	int (*core_disconnect)(void *);
	void *(*properties_new)(const char *);
	void *(*stream_new)(void *, const char *, void *);
	void (*add_listener)(void *, struct hook *, const struct events *, void *);
	int (*connect)(void *, int, uint32_t, int, const struct pod **, uint32_t);
	int (*update)(void *, const struct pod **, uint32_t);
	struct pw_buffer *(*dequeue)(void *);
	int (*queue)(void *, struct pw_buffer *);
	void (*destroy)(void *);
} pw;

struct stream {
	void *loop, *context, *core, *stream;
	struct hook hook;
	int wake;

	pthread_mutex_t lock; // of all below
	uint8_t *pixels;
	size_t room;
	int width, height;
	uint64_t count;
	bool ended;
	char why[200];
	int format, full_width, full_height; // as agreed upon; of the loop's thread alone
};

static const char *failed;

static void load(void) {
	void *lib = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		failed = "libpipewire-0.3.so.0 cannot be loaded";
		return;
	}
	struct { void *into; const char *name; } all[] = {
		{&pw.init, "pw_init"}, {&pw.loop_new, "pw_thread_loop_new"}, {&pw.loop_get, "pw_thread_loop_get_loop"},
		{&pw.loop_start, "pw_thread_loop_start"}, {&pw.loop_stop, "pw_thread_loop_stop"}, {&pw.loop_lock, "pw_thread_loop_lock"},
		{&pw.loop_unlock, "pw_thread_loop_unlock"}, {&pw.loop_destroy, "pw_thread_loop_destroy"}, {&pw.context_new, "pw_context_new"},
		{&pw.context_destroy, "pw_context_destroy"}, {&pw.context_connect_fd, "pw_context_connect_fd"},
		{&pw.core_disconnect, "pw_core_disconnect"}, {&pw.properties_new, "pw_properties_new_string"}, {&pw.stream_new, "pw_stream_new"},
		{&pw.add_listener, "pw_stream_add_listener"}, {&pw.connect, "pw_stream_connect"}, {&pw.update, "pw_stream_update_params"},
		{&pw.dequeue, "pw_stream_dequeue_buffer"}, {&pw.queue, "pw_stream_queue_buffer"}, {&pw.destroy, "pw_stream_destroy"},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		void *f = dlsym(lib, all[i].name);
		if (f == NULL) {
			failed = "libpipewire-0.3.so.0 is too old";
			return;
		}
		memcpy(all[i].into, &f, sizeof f);
	}
	pw.init(NULL, NULL);
}

const char *pipewire_load(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return failed;
}

// A builder writes an object of properties, in words of 4 bytes.
struct builder { _Alignas(8) uint32_t words[128]; int n; };

static void object(struct builder *b, uint32_t type, uint32_t id) {
	b->n = 0;
	uint32_t head[] = {0, TYPE_OBJECT, type, id};
	memcpy(b->words, head, sizeof head);
	b->n = 4;
}

// property adds a value of some words; choice is 0 or how the values after the first are meant, each of size bytes.
static void property(struct builder *b, uint32_t key, uint32_t choice, uint32_t type, uint32_t size, const uint32_t *values, int words) {
	uint32_t *w = b->words + b->n;
	int n = 0;
	w[n++] = key;
	w[n++] = 0;
	if (choice) {
		w[n++] = 16 + 4 * words;
		w[n++] = TYPE_CHOICE;
		w[n++] = choice;
		w[n++] = 0;
	}
	w[n++] = size;
	w[n++] = type;
	memcpy(w + n, values, 4 * words);
	n += words;
	if (n % 2) w[n++] = 0;
	b->n += n;
	b->words[0] = 4 * b->n - 8;
}

#define PROPERTY(b, key, choice, type, size, ...) do { \
	uint32_t values[] = {__VA_ARGS__}; \
	property(b, key, choice, type, size, values, sizeof values / 4); \
} while (0)

static void wake(stream *s) {
	uint64_t one = 1;
	if (write(s->wake, &one, sizeof one) < 0) return; // it is full, and read soon
}

static void state_changed(void *data, int old, int state, const char *error) {
	stream *s = data;
	if (state != STATE_ERROR && (state != STATE_UNCONNECTED || old == STATE_UNCONNECTED)) return;
	pthread_mutex_lock(&s->lock);
	if (!s->ended) snprintf(s->why, sizeof s->why, "%s", error ? error : "the stream ended");
	s->ended = true;
	pthread_mutex_unlock(&s->lock);
	wake(s);
}

// param_changed takes the format that was agreed upon, and says which memory it may come in.
static void param_changed(void *data, uint32_t id, const struct pod *param) {
	stream *s = data;
	if (param == NULL || id != PARAM_FORMAT || param->type != TYPE_OBJECT) return;
	const uint8_t *p = (const uint8_t *)(param + 1) + 8, *end = (const uint8_t *)(param + 1) + param->size;
	while (p + 16 <= end) {
		uint32_t w[4];
		memcpy(w, p, sizeof w); // key, flags, size, type
		const uint8_t *value = p + 16;
		if (w[2] > (size_t)(end - value)) break;
		p = value + (w[2] + 7) / 8 * 8;
		if (w[3] == TYPE_CHOICE && w[2] >= 16) { // the first of a choice is the one
			value += 16;
			w[2] -= 16;
		}
		if (w[0] == VIDEO_FORMAT && w[2] >= 4) memcpy(&s->format, value, 4);
		if (w[0] == VIDEO_SIZE && w[2] >= 8) {
			memcpy(&s->full_width, value, 4);
			memcpy(&s->full_height, value + 4, 4);
		}
	}
	struct builder b[3];
	object(&b[0], OBJECT_BUFFERS, PARAM_BUFFERS);
	PROPERTY(&b[0], BUFFERS_DATA_TYPE, CHOICE_FLAGS, TYPE_INT, 4, 1 << MEMORY_POINTER | 1 << MEMORY_FD);
	object(&b[1], OBJECT_META, PARAM_META);
	PROPERTY(&b[1], META_TYPE, 0, TYPE_ID, 4, META_CROP);
	PROPERTY(&b[1], META_SIZE, 0, TYPE_INT, 4, sizeof(struct region));
	object(&b[2], OBJECT_META, PARAM_META);
	PROPERTY(&b[2], META_TYPE, 0, TYPE_ID, 4, META_HEADER);
	PROPERTY(&b[2], META_SIZE, 0, TYPE_INT, 4, sizeof(struct header));
	const struct pod *params[] = {(struct pod *)b[0].words, (struct pod *)b[1].words, (struct pod *)b[2].words};
	pw.update(s->stream, params, 3);
}

static const void *meta(const struct buffer *b, uint32_t type, size_t size) {
	for (uint32_t i = 0; i < b->n_metas; i++)
		if (b->metas[i].type == type && b->metas[i].size >= size) return b->metas[i].data;
	return NULL;
}

// keep copies a picture, or the part of it that is one.
static bool keep(stream *s, const struct buffer *b) {
	const struct header *header = meta(b, META_HEADER, sizeof *header);
	const struct region *crop = meta(b, META_CROP, sizeof *crop);
	if (b->n_datas == 0 || header != NULL && header->flags & HEADER_CORRUPTED) return false;
	const struct data *d = &b->datas[0];
	if (d->data == NULL || d->chunk == NULL || d->chunk->size == 0 || d->chunk->flags & CHUNK_CORRUPTED || d->maxsize == 0) return false;
	struct region r = {0, 0, s->full_width, s->full_height};
	if (crop != NULL && crop->width > 0 && crop->height > 0) r = *crop;
	int64_t stride = d->chunk->stride > 0 ? d->chunk->stride : 4 * (int64_t)s->full_width;
	uint64_t offset = d->chunk->offset % d->maxsize;
	if (r.x < 0 || r.y < 0 || r.width == 0 || r.height == 0 || r.width > 1 << 15 || r.height > 1 << 15 ||
	    (int64_t)r.x + r.width > s->full_width || (int64_t)r.y + r.height > s->full_height || stride < 4 * (int64_t)s->full_width ||
	    offset + (r.y + r.height - 1) * stride + 4 * ((uint64_t)r.x + r.width) > d->maxsize) return false;
	size_t row = 4 * (size_t)r.width, size = row * r.height;
	pthread_mutex_lock(&s->lock);
	if (s->room < size) {
		free(s->pixels);
		s->pixels = malloc(size);
		s->room = s->pixels ? size : 0;
		s->width = s->height = 0;
	}
	bool fits = s->pixels != NULL;
	if (fits) {
		const uint8_t *from = (const uint8_t *)d->data + offset + r.y * stride + 4 * (size_t)r.x;
		for (uint32_t y = 0; y < r.height; y++) memcpy(s->pixels + y * row, from + y * stride, row);
		if (s->format == RGBX || s->format == RGBA)
			for (size_t i = 0; i < size; i += 4) {
				uint8_t red = s->pixels[i];
				s->pixels[i] = s->pixels[i + 2];
				s->pixels[i + 2] = red;
			}
		for (size_t i = 3; i < size; i += 4) s->pixels[i] = 0xff; // it is not used, and would make equal pictures different
		s->width = r.width;
		s->height = r.height;
		s->count++;
	}
	pthread_mutex_unlock(&s->lock);
	return fits;
}

static void process(void *data) {
	stream *s = data;
	struct pw_buffer *newest = NULL, *next;
	while ((next = pw.dequeue(s->stream)) != NULL) {
		if (newest != NULL) pw.queue(s->stream, newest);
		newest = next;
	}
	if (newest == NULL) return;
	bool kept = keep(s, newest->buffer);
	pw.queue(s->stream, newest);
	if (kept) wake(s);
}

static const struct events events = {.version = 2, .state_changed = state_changed, .param_changed = param_changed, .process = process};

stream *stream_open(int connection, uint32_t node, int wake_fd) {
	stream *s = calloc(1, sizeof *s);
	if (s == NULL) {
		close(connection);
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->wake = wake_fd;
	struct builder b;
	object(&b, OBJECT_FORMAT, PARAM_ENUM_FORMAT);
	PROPERTY(&b, MEDIA_TYPE, 0, TYPE_ID, 4, VIDEO);
	PROPERTY(&b, MEDIA_SUBTYPE, 0, TYPE_ID, 4, RAW);
	PROPERTY(&b, VIDEO_FORMAT, CHOICE_ENUM, TYPE_ID, 4, BGRX, BGRX, BGRA, RGBX, RGBA);
	PROPERTY(&b, VIDEO_SIZE, CHOICE_RANGE, TYPE_RECTANGLE, 8, 1440, 900, 1, 1, 1 << 15, 1 << 15);
	PROPERTY(&b, VIDEO_RATE, CHOICE_RANGE, TYPE_FRACTION, 8, 0, 1, 0, 1, 1000, 1);
	PROPERTY(&b, VIDEO_MAX_RATE, CHOICE_RANGE, TYPE_FRACTION, 8, RATE, 1, 1, 1, RATE, 1);
	const struct pod *format = (struct pod *)b.words;
	s->loop = pw.loop_new("deskbell-pictures", NULL);
	s->context = s->loop ? pw.context_new(pw.loop_get(s->loop), NULL, 0) : NULL;
	if (s->context == NULL || pw.loop_start(s->loop) < 0) {
		close(connection);
		stream_close(s);
		return NULL;
	}
	pw.loop_lock(s->loop);
	s->core = pw.context_connect_fd(s->context, connection, NULL, 0);
	if (s->core != NULL)
		s->stream = pw.stream_new(s->core, "Deskbell", pw.properties_new("media.type=Video media.category=Capture media.role=Screen"));
	int ok = -1;
	if (s->stream != NULL) {
		pw.add_listener(s->stream, &s->hook, &events, s);
		ok = pw.connect(s->stream, INPUT, node, AUTOCONNECT | MAP_BUFFERS | DONT_RECONNECT, &format, 1);
	}
	pw.loop_unlock(s->loop);
	if (ok < 0) {
		stream_close(s);
		return NULL;
	}
	return s;
}

void stream_picture(stream *s, int *width, int *height, uint64_t *count) {
	pthread_mutex_lock(&s->lock);
	*width = s->width;
	*height = s->height;
	*count = s->count;
	pthread_mutex_unlock(&s->lock);
}

int stream_copy(stream *s, uint8_t *into, int width, int height) {
	pthread_mutex_lock(&s->lock);
	int same = s->width == width && s->height == height && width > 0;
	if (same) memcpy(into, s->pixels, 4 * (size_t)width * height);
	pthread_mutex_unlock(&s->lock);
	return same;
}

int stream_ended(stream *s, char *why, int size) {
	pthread_mutex_lock(&s->lock);
	int ended = s->ended;
	snprintf(why, size, "%s", s->why);
	pthread_mutex_unlock(&s->lock);
	return ended;
}

void stream_close(stream *s) {
	if (s->loop != NULL) pw.loop_stop(s->loop);
	if (s->stream != NULL) pw.destroy(s->stream);
	if (s->core != NULL) pw.core_disconnect(s->core);
	if (s->context != NULL) pw.context_destroy(s->context);
	if (s->loop != NULL) pw.loop_destroy(s->loop);
	pthread_mutex_destroy(&s->lock);
	free(s->pixels);
	free(s);
}
