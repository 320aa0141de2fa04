/* SPDX-License-Identifier: MIT */
#ifndef TCP_PAIR_H
#define TCP_PAIR_H

/* Two TCP sockets of this machine, connected to each other, O_CLOEXEC. 0 or -errno, with nothing left open.
 */
int tcp_pair_open(int ret_fds[2]);

#endif
