#include <stdint.h>

// A stream of pictures from PipeWire. Its functions may be called from any thread, but close with nothing else.
typedef struct stream stream;

// pipewire_load loads the library, once. It returns NULL, or why that failed.
const char *pipewire_load(void);

// stream_open begins to receive a node's pictures over a connection to PipeWire, whose descriptor it takes. It returns NULL
// when there is no memory or no connection. wake, an eventfd, is written to with each picture, and at the end.
stream *stream_open(int connection, uint32_t node, int wake);

// stream_picture says how large the newest picture is, and how many came so far.
void stream_picture(stream *s, int *width, int *height, uint64_t *count);

// stream_copy copies the newest picture, 4 bytes a pixel (blue, green, red, unused), if it has this size. It returns 0
// when it has another.
int stream_copy(stream *s, uint8_t *into, int width, int height);

// stream_ended says whether no picture comes any more, and why.
int stream_ended(stream *s, char *why, int size);

void stream_close(stream *s);
