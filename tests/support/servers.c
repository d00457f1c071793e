/* SPDX-License-Identifier: MIT
 *
 * redis-server and nginx, started for a test. In: which. Out: an address that answers.
 */
#include "support/servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 500 /* times 10 ms */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static bool is_there(const char *command)
{
    char line[128];
    snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", command);
    if (system(line) == 0) {
        return true;
    }
    fprintf(stderr, "skipped: %s is not installed\n", command);
    return false;
}

static struct sockaddr_in address_of(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int free_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t size = sizeof address;
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&address, size) != 0 ||
        getsockname(s, (struct sockaddr *)&address, &size) != 0) {
        die("a free port");
    }
    close(s);
    return ntohs(address.sin_port);
}

static bool answers(int port)
{
    struct sockaddr_in address = address_of(port);
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is = s >= 0 && connect(s, (struct sockaddr *)&address, sizeof address) == 0;
    close(s);
    return is;
}

static void write_file(const server *s, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        die(path);
    }
}

/* A certificate for 127.0.0.1 that signs itself. */
static bool make_certificate(const server *s)
{
    char line[512], path[128];
    snprintf(line, sizeof line,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-keyout %s/key.pem -out %s/cert.pem -subj /CN=localhost "
             "-addext subjectAltName=IP:127.0.0.1,DNS:localhost >/dev/null 2>&1",
             s->folder, s->folder);
    snprintf(path, sizeof path, "%s/cert.pem", s->folder);
    setenv("QUERN_REMOTE_CA", path, 1);
    return is_there("openssl") && system(line) == 0;
}

static void run(server *s, char *const *command)
{
    const pid_t parent = getpid();
    s->pid = fork();
    if (s->pid < 0) {
        die("fork");
    }
    if (s->pid == 0) {
        char path[128];
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the program */
        snprintf(path, sizeof path, "%s/log", s->folder);
        int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, 1);
        dup2(log, 2);
        if (getppid() == parent) {
            execvp(command[0], command);
        }
        _exit(127);
    }
}

static void start_redis(server *s, bool tls)
{
    char port[16], certificate[128], key[128];
    snprintf(port, sizeof port, "%d", s->port);
    snprintf(certificate, sizeof certificate, "%s/cert.pem", s->folder);
    snprintf(key, sizeof key, "%s/key.pem", s->folder);
    char *plain[] = {"redis-server", "--port", port,    "--bind",  "127.0.0.1",
                     "--save",       "",       "--dir", s->folder, NULL};
    char *secure[] = {"redis-server",
                      "--port",
                      "0",
                      "--tls-port",
                      port,
                      "--bind",
                      "127.0.0.1",
                      "--tls-cert-file",
                      certificate,
                      "--tls-key-file",
                      key,
                      "--tls-ca-cert-file",
                      certificate,
                      "--tls-auth-clients",
                      "no",
                      "--save",
                      "",
                      "--dir",
                      s->folder,
                      NULL};
    run(s, tls ? secure : plain);
}

static void start_nginx(server *s, bool tls)
{
    char text[2048], secure[256] = "", configuration[128];
    if (tls) {
        snprintf(secure, sizeof secure,
                 "    ssl_certificate %s/cert.pem;\n    ssl_certificate_key %s/key.pem;\n",
                 s->folder, s->folder);
    }
    snprintf(text, sizeof text,
             "daemon off; master_process off; error_log stderr;\npid %s/pid;\n"
             "events { worker_connections 4096; }\n"
             "http {\n  access_log off; client_max_body_size 64m; keepalive_requests 1000000;\n"
             "  client_body_temp_path %s/body; proxy_temp_path %s/p; fastcgi_temp_path %s/f;\n"
             "  uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
             "  server {\n    listen 127.0.0.1:%d%s;\n%s"
             "    root %s/www;\n"
             "    location / { dav_methods PUT DELETE; create_full_put_path on; "
             "open_file_cache off; }\n  }\n}\n",
             s->folder, s->folder, s->folder, s->folder, s->folder, s->folder, s->port,
             tls ? " ssl http2" : "", secure, s->folder);
    write_file(s, "nginx.conf", text);
    snprintf(configuration, sizeof configuration, "%s/nginx.conf", s->folder);
    char www[128];
    snprintf(www, sizeof www, "mkdir -p %s/www", s->folder);
    if (system(www) != 0) {
        die("mkdir");
    }
    run(s, (char *[]){"nginx", "-c", configuration, "-p", s->folder, NULL});
}

bool server_start(server *s, server_kind kind)
{
    const bool redis = kind == SERVER_REDIS || kind == SERVER_REDIS_TLS;
    const bool tls = kind == SERVER_REDIS_TLS || kind == SERVER_HTTPS;
    *s = (server){0};
    snprintf(s->folder, sizeof s->folder, "%s/quern-server-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* no disk to wait for */
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
    if (!is_there(redis ? "redis-server" : "nginx")) {
        return false;
    }
    if (!mkdtemp(s->folder)) {
        die(s->folder);
    }
    if (tls && !make_certificate(s)) {
        return false;
    }
    s->port = free_port();
    snprintf(s->url, sizeof s->url, "%s://127.0.0.1:%d%s",
             redis ? (tls ? "rediss" : "redis") : (tls ? "https" : "http"), s->port,
             redis ? "" : "/cache");
    if (redis) {
        start_redis(s, tls);
    } else {
        start_nginx(s, tls);
    }
    for (int k = 0; k < PATIENCE; k++) {
        if (answers(s->port)) {
            return true;
        }
        usleep(10000);
    }
    fprintf(stderr, "%s does not answer; its log is %s/log\n", s->url, s->folder);
    exit(1);
}

void server_hang(const server *s, bool hangs)
{
    kill(s->pid, hangs ? SIGSTOP : SIGCONT);
}

void server_stop(server *s)
{
    if (s->pid > 0) {
        char line[128];
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
        snprintf(line, sizeof line, "rm -rf %s", s->folder);
        if (system(line) != 0) {
            fprintf(stderr, "%s remains\n", s->folder);
        }
        s->pid = 0;
    }
}

const char *server_kind_name(server_kind kind)
{
    static const char *const names[] = {"redis", "redis+tls", "http", "https"};
    return names[kind];
}
