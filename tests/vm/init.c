/* SPDX-License-Identifier: MIT */
/*
 * The first process of a virtual machine that lives for a few commands: those of /commands, one a line, "NAME
 * COMMAND [ARGUMENT]...". What they print goes to the second serial port, between lines "BEGIN NAME" and "END
 * NAME STATUS": the first is the console, where the kernel's own lines would come in between. Then off.
 */
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define OUTPUT "/dev/ttyS1"
#define WORDS_MOST 16
#define SECONDS_MOST 300 /* for one command; tests end themselves before */

static void mount_at(const char *type, const char *path)
{
	mkdir(path, 0755);
	if (mount(type, path, type, 0, NULL) < 0)
		perror(path);
}

static void mount_all(void)
{
	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("devtmpfs", "/dev");
	mount_at("tmpfs", "/tmp");
	mount_at("tmpfs", "/dev/shm");
	mount_at("devpts", "/dev/pts");
	mount_at("cgroup2", "/sys/fs/cgroup");
}

/* Those beside the kernel, which need no other: a file system or a device that some test wants. */
static void load_modules(void)
{
	DIR *folder = opendir("/modules");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);

		if (entry->d_name[0] != '.' && syscall(SYS_finit_module, fd, "", 0) < 0)
			perror(entry->d_name);
		close(fd);
	}
}

/* TCP to itself is one of the things that are tried. */
static void raise_loopback(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	if (ioctl(s, SIOCSIFFLAGS, &lo) < 0)
		perror("lo");
	close(s);
}

/* Raw: a line ends as its program ended it. */
static void open_output(void)
{
	struct termios raw;
	int fd = open(OUTPUT, O_RDWR | O_NOCTTY);

	if (fd < 0 || tcgetattr(fd, &raw) < 0) {
		perror(OUTPUT);
		return;
	}
	cfmakeraw(&raw);
	tcsetattr(fd, TCSANOW, &raw);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static void become(char *words[])
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	close(null);
	alarm(SECONDS_MOST);
	execv(words[0], words);
	perror(words[0]);
	_exit(127);
}

/* As a shell tells it. Orphans are reaped on the way. */
static int run(char *words[])
{
	int status = 0;
	pid_t child = fork(), ended;

	if (child == 0)
		become(words);
	do
		ended = wait(&status);
	while (ended >= 0 && ended != child);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void run_line(char *line)
{
	char *words[WORDS_MOST + 1] = { NULL }, *name = strtok(line, " \n");

	for (int i = 0; name && i < WORDS_MOST; i++) {
		words[i] = strtok(NULL, " \n");
		if (!words[i])
			break;
	}
	if (!words[0])
		return;
	printf("BEGIN %s\n", name);
	fflush(stdout);
	printf("\nEND %s %d\n", name, run(words));
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
}

int main(void)
{
	struct utsname kernel;
	char line[300];
	FILE *commands;

	mount_all();
	load_modules();
	raise_loopback();
	open_output();
	uname(&kernel);
	printf("KERNEL %s\n", kernel.release);
	commands = fopen("/commands", "re");
	while (commands && fgets(line, sizeof(line), commands))
		run_line(line);
	return reboot(RB_POWER_OFF);
}
