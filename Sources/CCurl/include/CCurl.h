/* libcurl as Swift sees it: loaded when it is first needed, since it brings 5 MB of libraries (OpenSSL, GnuTLS,
   Kerberos, LDAP) into a relay that may never post anything. Its types and constants come from its own header. The
   variadic functions, which Swift cannot call, have a typed form for each type of argument.

   Until `relay_curl_load` has returned NULL, functions that make something return NULL, and the others do nothing. */
#pragma once
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

/* Loads libcurl and makes it ready, once in the process. Returns NULL, or why it cannot be had. Not for two threads at
   a time. */
const char *relay_curl_load(void);

typedef size_t (*relay_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*relay_curl_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context, void *unused);
typedef int (*relay_curl_timer_callback)(CURLM *multi, long milliseconds, void *context);

/* The functions of libcurl of the same names. */
CURL *relay_curl_easy_init(void);
void relay_curl_easy_reset(CURL *easy);
void relay_curl_easy_cleanup(CURL *easy);
const char *relay_curl_easy_strerror(CURLcode code);
struct curl_slist *relay_curl_slist_append(struct curl_slist *list, const char *text);
void relay_curl_slist_free_all(struct curl_slist *list);
CURLM *relay_curl_multi_init(void);
CURLMcode relay_curl_multi_cleanup(CURLM *multi);
CURLMcode relay_curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode relay_curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode relay_curl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running);
CURLMsg *relay_curl_multi_info_read(CURLM *multi, int *left);
const char *relay_curl_multi_strerror(CURLMcode code);
CURLU *relay_curl_url(void);
void relay_curl_url_cleanup(CURLU *url);
CURLUcode relay_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
CURLUcode relay_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);
const char *relay_curl_url_strerror(CURLUcode code);
void relay_curl_free(void *memory);

/* curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt, by the type of the value. */
CURLcode relay_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode relay_curl_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode relay_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode relay_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode relay_curl_set_data_callback(CURL *easy, CURLoption option, relay_curl_data_callback value);
CURLcode relay_curl_copy_body(CURL *easy, const void *bytes, curl_off_t count);
CURLcode relay_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode relay_curl_get_time(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode relay_curl_get_text(CURL *easy, CURLINFO info, char **value);
CURLcode relay_curl_get_pointer(CURL *easy, CURLINFO info, void **value);
CURLMcode relay_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode relay_curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value);
CURLMcode relay_curl_multi_set_socket(CURLM *multi, relay_curl_socket_callback value);
CURLMcode relay_curl_multi_set_timer(CURLM *multi, relay_curl_timer_callback value);

/* The result stands in a union with an unnamed type. */
static inline CURLcode relay_curl_message_result(const CURLMsg *message) { return message->data.result; }
