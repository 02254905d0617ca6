/* libcurl as Swift sees it, plus typed forms of its variadic functions, which Swift cannot call: one shim for each
   type of argument. */
#pragma once
#include <curl/curl.h>

typedef size_t (*relay_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*relay_curl_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context, void *unused);
typedef int (*relay_curl_timer_callback)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode relay_curl_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT); /* a macro of casts */
}

static inline CURLcode relay_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode relay_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode relay_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode relay_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode relay_curl_set_data_callback(CURL *easy, CURLoption option, relay_curl_data_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode relay_curl_copy_body(CURL *easy, const void *bytes, curl_off_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

static inline CURLcode relay_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode relay_curl_get_time(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode relay_curl_get_text(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode relay_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode relay_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode relay_curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode relay_curl_multi_set_socket(CURLM *multi, relay_curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode relay_curl_multi_set_timer(CURLM *multi, relay_curl_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

/* The result stands in a union with an unnamed type. */
static inline CURLcode relay_curl_message_result(const CURLMsg *message) { return message->data.result; }
