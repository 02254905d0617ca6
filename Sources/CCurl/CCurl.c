#include "CCurl.h"

#include <dlfcn.h>
#include <stdbool.h>

/* Typed by libcurl's own header. */
static struct {
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_socket_action) *multi_socket_action;
    __typeof__(curl_multi_info_read) *multi_info_read;
    __typeof__(curl_multi_strerror) *multi_strerror;
    __typeof__(curl_url) *url;
    __typeof__(curl_url_cleanup) *url_cleanup;
    __typeof__(curl_url_set) *url_set;
    __typeof__(curl_url_get) *url_get;
    __typeof__(curl_url_strerror) *url_strerror;
    __typeof__(curl_free) *free;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_multi_setopt) *multi_setopt;
    __typeof__(curl_global_init) *global_init;
} library;

static bool is_loaded;

static const char *find(void *handle, const char *name, void **function) {
    *function = dlsym(handle, name);
    return *function ? NULL : dlerror();
}

static const char *find_all(void *handle) {
    const struct {
        const char *name;
        void **function;
    } functions[] = {
        {"curl_easy_init", (void **)&library.easy_init},
        {"curl_easy_reset", (void **)&library.easy_reset},
        {"curl_easy_cleanup", (void **)&library.easy_cleanup},
        {"curl_easy_strerror", (void **)&library.easy_strerror},
        {"curl_slist_append", (void **)&library.slist_append},
        {"curl_slist_free_all", (void **)&library.slist_free_all},
        {"curl_multi_init", (void **)&library.multi_init},
        {"curl_multi_cleanup", (void **)&library.multi_cleanup},
        {"curl_multi_add_handle", (void **)&library.multi_add_handle},
        {"curl_multi_remove_handle", (void **)&library.multi_remove_handle},
        {"curl_multi_socket_action", (void **)&library.multi_socket_action},
        {"curl_multi_info_read", (void **)&library.multi_info_read},
        {"curl_multi_strerror", (void **)&library.multi_strerror},
        {"curl_url", (void **)&library.url},
        {"curl_url_cleanup", (void **)&library.url_cleanup},
        {"curl_url_set", (void **)&library.url_set},
        {"curl_url_get", (void **)&library.url_get},
        {"curl_url_strerror", (void **)&library.url_strerror},
        {"curl_free", (void **)&library.free},
        {"curl_easy_setopt", (void **)&library.easy_setopt},
        {"curl_easy_getinfo", (void **)&library.easy_getinfo},
        {"curl_multi_setopt", (void **)&library.multi_setopt},
        {"curl_global_init", (void **)&library.global_init},
    };
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        const char *fault = find(handle, functions[index].name, functions[index].function);
        if (fault) return fault;
    }
    return NULL;
}

const char *relay_curl_load(void) {
    if (is_loaded) return NULL;
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
    const char *fault = find_all(handle);
    if (fault) return fault;
    if (library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return "curl_global_init failed";
    is_loaded = true;
    return NULL;
}

CURL *relay_curl_easy_init(void) {
    return is_loaded ? library.easy_init() : NULL;
}

void relay_curl_easy_reset(CURL *easy) {
    if (is_loaded) library.easy_reset(easy);
}

void relay_curl_easy_cleanup(CURL *easy) {
    if (is_loaded) library.easy_cleanup(easy);
}

const char *relay_curl_easy_strerror(CURLcode code) {
    return is_loaded ? library.easy_strerror(code) : "libcurl is not loaded";
}

struct curl_slist *relay_curl_slist_append(struct curl_slist *list, const char *text) {
    return is_loaded ? library.slist_append(list, text) : NULL;
}

void relay_curl_slist_free_all(struct curl_slist *list) {
    if (is_loaded) library.slist_free_all(list);
}

CURLM *relay_curl_multi_init(void) {
    return is_loaded ? library.multi_init() : NULL;
}

CURLMcode relay_curl_multi_cleanup(CURLM *multi) {
    return is_loaded ? library.multi_cleanup(multi) : CURLM_BAD_HANDLE;
}

CURLMcode relay_curl_multi_add_handle(CURLM *multi, CURL *easy) {
    return is_loaded ? library.multi_add_handle(multi, easy) : CURLM_BAD_HANDLE;
}

CURLMcode relay_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
    return is_loaded ? library.multi_remove_handle(multi, easy) : CURLM_BAD_HANDLE;
}

CURLMcode relay_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
    return is_loaded ? library.multi_socket_action(multi, socket, events, running) : CURLM_BAD_HANDLE;
}

CURLMsg *relay_curl_multi_info_read(CURLM *multi, int *left) {
    return is_loaded ? library.multi_info_read(multi, left) : NULL;
}

const char *relay_curl_multi_strerror(CURLMcode code) {
    return is_loaded ? library.multi_strerror(code) : "libcurl is not loaded";
}

CURLU *relay_curl_url(void) {
    return is_loaded ? library.url() : NULL;
}

void relay_curl_url_cleanup(CURLU *url) {
    if (is_loaded) library.url_cleanup(url);
}

CURLUcode relay_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
    return is_loaded ? library.url_set(url, part, text, flags) : CURLUE_BAD_HANDLE;
}

CURLUcode relay_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
    return is_loaded ? library.url_get(url, part, text, flags) : CURLUE_BAD_HANDLE;
}

const char *relay_curl_url_strerror(CURLUcode code) {
    return is_loaded ? library.url_strerror(code) : "libcurl is not loaded";
}

void relay_curl_free(void *memory) {
    if (is_loaded) library.free(memory);
}

CURLcode relay_curl_set_long(CURL *easy, CURLoption option, long value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_setopt(easy, option, value);
}

CURLcode relay_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_setopt(easy, option, value);
}

CURLcode relay_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_setopt(easy, option, value);
}

CURLcode relay_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_setopt(easy, option, value);
}

CURLcode relay_curl_set_data_callback(CURL *easy, CURLoption option, relay_curl_data_callback value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_setopt(easy, option, value);
}

CURLcode relay_curl_copy_body(CURL *easy, const void *bytes, curl_off_t count) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    CURLcode code = library.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? library.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

CURLcode relay_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_getinfo(easy, info, value);
}

CURLcode relay_curl_get_time(CURL *easy, CURLINFO info, curl_off_t *value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_getinfo(easy, info, value);
}

CURLcode relay_curl_get_text(CURL *easy, CURLINFO info, char **value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_getinfo(easy, info, value);
}

CURLcode relay_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    if (!is_loaded) return CURLE_FAILED_INIT;
    return library.easy_getinfo(easy, info, value);
}

CURLMcode relay_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    if (!is_loaded) return CURLM_BAD_HANDLE;
    return library.multi_setopt(multi, option, value);
}

CURLMcode relay_curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    if (!is_loaded) return CURLM_BAD_HANDLE;
    return library.multi_setopt(multi, option, value);
}

CURLMcode relay_curl_multi_set_socket(CURLM *multi, relay_curl_socket_callback value) {
    if (!is_loaded) return CURLM_BAD_HANDLE;
    return library.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

CURLMcode relay_curl_multi_set_timer(CURLM *multi, relay_curl_timer_callback value) {
    if (!is_loaded) return CURLM_BAD_HANDLE;
    return library.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}
