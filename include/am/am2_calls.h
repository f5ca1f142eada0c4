/* AM-II's calls by the number of their argument words: AM_Request0 .. AM_Request16 and so on, and the older names of the
 * medium and bulk ones. Part of <am/am2.h>, which includes it and says what they do.
 *
 * They are macros so that every word travels as wide as a pointer, whatever the caller wrote: an int, a long, a pointer. */
#ifndef AM_AM2_CALLS_H
#define AM_AM2_CALLS_H

/* NOLINTBEGIN(modernize-*): it is C */

/* A word of an active message: as wide as a pointer. Handlers may declare their parameters as int. */
typedef long am2_word_t;

#define AM2_W(a) ((am2_word_t)(a))

#define AM_Request0(ep, dest, h) am2_request0((ep), (dest), (h))
#define AM_Request1(ep, dest, h, a0) am2_request1((ep), (dest), (h), AM2_W(a0))
#define AM_Request2(ep, dest, h, a0, a1) am2_request2((ep), (dest), (h), AM2_W(a0), AM2_W(a1))
#define AM_Request3(ep, dest, h, a0, a1, a2) am2_request3((ep), (dest), (h), AM2_W(a0), AM2_W(a1), AM2_W(a2))
#define AM_Request4(ep, dest, h, a0, a1, a2, a3) \
  am2_request4((ep), (dest), (h), AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_Request5(ep, dest, h, a0, a1, a2, a3, a4) \
  am2_request((ep), (dest), (h), 5, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_Request6(ep, dest, h, a0, a1, a2, a3, a4, a5) \
  am2_request((ep), (dest), (h), 6, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_Request7(ep, dest, h, a0, a1, a2, a3, a4, a5, a6)                                          \
  am2_request((ep), (dest), (h), 7, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6))
#define AM_Request8(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7)                                      \
  am2_request((ep), (dest), (h), 8, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7))
#define AM_Request9(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8)                                  \
  am2_request((ep), (dest), (h), 9, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_Request10(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)                              \
  am2_request((ep), (dest), (h), 10, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_Request11(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)                         \
  am2_request((ep), (dest), (h), 11, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10))
#define AM_Request12(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)                    \
  am2_request((ep), (dest), (h), 12, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_Request13(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)               \
  am2_request((ep), (dest), (h), 13, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_Request14(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)          \
  am2_request((ep), (dest), (h), 14, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_Request15(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14)        \
  am2_request((ep), (dest), (h), 15, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5),    \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), \
              AM2_W(a14))
#define AM_Request16(ep, dest, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15)   \
  am2_request((ep), (dest), (h), 16, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5),    \
              AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), \
              AM2_W(a14), AM2_W(a15))

#define AM_RequestI0(ep, dest, h, src, nbytes) am2_request_i((ep), (dest), (h), (src), (nbytes), 0)
#define AM_RequestI1(ep, dest, h, src, nbytes, a0) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 1, AM2_W(a0))
#define AM_RequestI2(ep, dest, h, src, nbytes, a0, a1) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 2, AM2_W(a0), AM2_W(a1))
#define AM_RequestI3(ep, dest, h, src, nbytes, a0, a1, a2) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 3, AM2_W(a0), AM2_W(a1), AM2_W(a2))
#define AM_RequestI4(ep, dest, h, src, nbytes, a0, a1, a2, a3) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 4, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_RequestI5(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 5, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_RequestI6(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5)                             \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 6, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5))
#define AM_RequestI7(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6)                         \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 7, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_RequestI8(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                     \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 8, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_RequestI9(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)                 \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 9, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_RequestI10(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)             \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 10, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_RequestI11(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)        \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 11, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10))
#define AM_RequestI12(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)   \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 12, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_RequestI13(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)    \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 13, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3),       \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), \
                AM2_W(a12))
#define AM_RequestI14(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13) \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 14, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3),         \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11),   \
                AM2_W(a12), AM2_W(a13))
#define AM_RequestI15(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, \
                      a14)                                                                                  \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 15, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3),         \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11),   \
                AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_RequestI16(ep, dest, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, \
                      a14, a15)                                                                             \
  am2_request_i((ep), (dest), (h), (src), (nbytes), 16, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3),         \
                AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11),   \
                AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))
#define AM_RequestMedium0 AM_RequestI0
#define AM_RequestMedium1 AM_RequestI1
#define AM_RequestMedium2 AM_RequestI2
#define AM_RequestMedium3 AM_RequestI3
#define AM_RequestMedium4 AM_RequestI4
#define AM_RequestMedium5 AM_RequestI5
#define AM_RequestMedium6 AM_RequestI6
#define AM_RequestMedium7 AM_RequestI7
#define AM_RequestMedium8 AM_RequestI8
#define AM_RequestMedium9 AM_RequestI9
#define AM_RequestMedium10 AM_RequestI10
#define AM_RequestMedium11 AM_RequestI11
#define AM_RequestMedium12 AM_RequestI12
#define AM_RequestMedium13 AM_RequestI13
#define AM_RequestMedium14 AM_RequestI14
#define AM_RequestMedium15 AM_RequestI15
#define AM_RequestMedium16 AM_RequestI16

#define AM_RequestXfer0(ep, dest, off, h, src, nbytes) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 0)
#define AM_RequestXfer1(ep, dest, off, h, src, nbytes, a0) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 1, AM2_W(a0))
#define AM_RequestXfer2(ep, dest, off, h, src, nbytes, a0, a1) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 2, AM2_W(a0), AM2_W(a1))
#define AM_RequestXfer3(ep, dest, off, h, src, nbytes, a0, a1, a2)                                       \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 3, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2))
#define AM_RequestXfer4(ep, dest, off, h, src, nbytes, a0, a1, a2, a3)                                   \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 4, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3))
#define AM_RequestXfer5(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4)                               \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 5, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_RequestXfer6(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5)                           \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 6, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_RequestXfer7(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6)                       \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 7, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_RequestXfer8(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                   \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 8, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_RequestXfer9(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)               \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 9, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_RequestXfer10(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)           \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 10, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_RequestXfer11(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)       \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 11, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10))
#define AM_RequestXfer12(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)  \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 12, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11))
#define AM_RequestXfer13(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,  \
                         a12)                                                                              \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 13, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_RequestXfer14(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,  \
                         a12, a13)                                                                         \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 14, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_RequestXfer15(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,  \
                         a12, a13, a14)                                                                    \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 15, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_RequestXfer16(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,  \
                         a12, a13, a14, a15)                                                               \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 0, 16, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))
#define AM_RequestLong0 AM_RequestXfer0
#define AM_RequestLong1 AM_RequestXfer1
#define AM_RequestLong2 AM_RequestXfer2
#define AM_RequestLong3 AM_RequestXfer3
#define AM_RequestLong4 AM_RequestXfer4
#define AM_RequestLong5 AM_RequestXfer5
#define AM_RequestLong6 AM_RequestXfer6
#define AM_RequestLong7 AM_RequestXfer7
#define AM_RequestLong8 AM_RequestXfer8
#define AM_RequestLong9 AM_RequestXfer9
#define AM_RequestLong10 AM_RequestXfer10
#define AM_RequestLong11 AM_RequestXfer11
#define AM_RequestLong12 AM_RequestXfer12
#define AM_RequestLong13 AM_RequestXfer13
#define AM_RequestLong14 AM_RequestXfer14
#define AM_RequestLong15 AM_RequestXfer15
#define AM_RequestLong16 AM_RequestXfer16

#define AM_RequestXferAsync0(ep, dest, off, h, src, nbytes) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 0)
#define AM_RequestXferAsync1(ep, dest, off, h, src, nbytes, a0) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 1, AM2_W(a0))
#define AM_RequestXferAsync2(ep, dest, off, h, src, nbytes, a0, a1) \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 2, AM2_W(a0), AM2_W(a1))
#define AM_RequestXferAsync3(ep, dest, off, h, src, nbytes, a0, a1, a2)                                  \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 3, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2))
#define AM_RequestXferAsync4(ep, dest, off, h, src, nbytes, a0, a1, a2, a3)                              \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 4, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3))
#define AM_RequestXferAsync5(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4)                          \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 5, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_RequestXferAsync6(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5)                      \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 6, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_RequestXferAsync7(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6)                  \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 7, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_RequestXferAsync8(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)              \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 8, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_RequestXferAsync9(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)          \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 9, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_RequestXferAsync10(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)      \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 10, AM2_W(a0), AM2_W(a1), \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_RequestXferAsync11(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)  \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 11, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10))
#define AM_RequestXferAsync12(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,  \
                              a11)                                                                         \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 12, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11))
#define AM_RequestXferAsync13(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,  \
                              a11, a12)                                                                    \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 13, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_RequestXferAsync14(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,  \
                              a11, a12, a13)                                                               \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 14, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_RequestXferAsync15(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,  \
                              a11, a12, a13, a14)                                                          \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 15, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_RequestXferAsync16(ep, dest, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,  \
                              a11, a12, a13, a14, a15)                                                     \
  am2_request_xfer((ep), (dest), (unsigned long)(off), (h), (src), (nbytes), 1, 16, AM2_W(a0), AM2_W(a1),  \
                   AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), \
                   AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))

#define AM_Reply0(token, h) am2_reply0((token), (h))
#define AM_Reply1(token, h, a0) am2_reply1((token), (h), AM2_W(a0))
#define AM_Reply2(token, h, a0, a1) am2_reply2((token), (h), AM2_W(a0), AM2_W(a1))
#define AM_Reply3(token, h, a0, a1, a2) am2_reply3((token), (h), AM2_W(a0), AM2_W(a1), AM2_W(a2))
#define AM_Reply4(token, h, a0, a1, a2, a3) \
  am2_reply4((token), (h), AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_Reply5(token, h, a0, a1, a2, a3, a4) \
  am2_reply((token), (h), 5, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_Reply6(token, h, a0, a1, a2, a3, a4, a5) \
  am2_reply((token), (h), 6, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_Reply7(token, h, a0, a1, a2, a3, a4, a5, a6) \
  am2_reply((token), (h), 7, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_Reply8(token, h, a0, a1, a2, a3, a4, a5, a6, a7)                                               \
  am2_reply((token), (h), 8, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7))
#define AM_Reply9(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8)                                           \
  am2_reply((token), (h), 9, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8))
#define AM_Reply10(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)                                       \
  am2_reply((token), (h), 10, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_Reply11(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)                                  \
  am2_reply((token), (h), 11, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10))
#define AM_Reply12(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)                             \
  am2_reply((token), (h), 12, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_Reply13(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)                        \
  am2_reply((token), (h), 13, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_Reply14(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)                   \
  am2_reply((token), (h), 14, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_Reply15(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14)              \
  am2_reply((token), (h), 15, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_Reply16(token, h, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15)         \
  am2_reply((token), (h), 16, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), \
            AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14),   \
            AM2_W(a15))

#define AM_ReplyI0(token, h, src, nbytes) am2_reply_i((token), (h), (src), (nbytes), 0)
#define AM_ReplyI1(token, h, src, nbytes, a0) am2_reply_i((token), (h), (src), (nbytes), 1, AM2_W(a0))
#define AM_ReplyI2(token, h, src, nbytes, a0, a1) \
  am2_reply_i((token), (h), (src), (nbytes), 2, AM2_W(a0), AM2_W(a1))
#define AM_ReplyI3(token, h, src, nbytes, a0, a1, a2) \
  am2_reply_i((token), (h), (src), (nbytes), 3, AM2_W(a0), AM2_W(a1), AM2_W(a2))
#define AM_ReplyI4(token, h, src, nbytes, a0, a1, a2, a3) \
  am2_reply_i((token), (h), (src), (nbytes), 4, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_ReplyI5(token, h, src, nbytes, a0, a1, a2, a3, a4) \
  am2_reply_i((token), (h), (src), (nbytes), 5, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_ReplyI6(token, h, src, nbytes, a0, a1, a2, a3, a4, a5)                                      \
  am2_reply_i((token), (h), (src), (nbytes), 6, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5))
#define AM_ReplyI7(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6)                                  \
  am2_reply_i((token), (h), (src), (nbytes), 7, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6))
#define AM_ReplyI8(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                              \
  am2_reply_i((token), (h), (src), (nbytes), 8, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_ReplyI9(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)                          \
  am2_reply_i((token), (h), (src), (nbytes), 9, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_ReplyI10(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)                      \
  am2_reply_i((token), (h), (src), (nbytes), 10, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_ReplyI11(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)                 \
  am2_reply_i((token), (h), (src), (nbytes), 11, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10))
#define AM_ReplyI12(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)            \
  am2_reply_i((token), (h), (src), (nbytes), 12, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_ReplyI13(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)       \
  am2_reply_i((token), (h), (src), (nbytes), 13, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_ReplyI14(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)   \
  am2_reply_i((token), (h), (src), (nbytes), 14, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4),  \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), \
              AM2_W(a13))
#define AM_ReplyI15(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14) \
  am2_reply_i((token), (h), (src), (nbytes), 15, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4),     \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12),    \
              AM2_W(a13), AM2_W(a14))
#define AM_ReplyI16(token, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, \
                    a15)                                                                                    \
  am2_reply_i((token), (h), (src), (nbytes), 16, AM2_W(a0), AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4),     \
              AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12),    \
              AM2_W(a13), AM2_W(a14), AM2_W(a15))
#define AM_ReplyMedium0 AM_ReplyI0
#define AM_ReplyMedium1 AM_ReplyI1
#define AM_ReplyMedium2 AM_ReplyI2
#define AM_ReplyMedium3 AM_ReplyI3
#define AM_ReplyMedium4 AM_ReplyI4
#define AM_ReplyMedium5 AM_ReplyI5
#define AM_ReplyMedium6 AM_ReplyI6
#define AM_ReplyMedium7 AM_ReplyI7
#define AM_ReplyMedium8 AM_ReplyI8
#define AM_ReplyMedium9 AM_ReplyI9
#define AM_ReplyMedium10 AM_ReplyI10
#define AM_ReplyMedium11 AM_ReplyI11
#define AM_ReplyMedium12 AM_ReplyI12
#define AM_ReplyMedium13 AM_ReplyI13
#define AM_ReplyMedium14 AM_ReplyI14
#define AM_ReplyMedium15 AM_ReplyI15
#define AM_ReplyMedium16 AM_ReplyI16

#define AM_ReplyXfer0(token, off, h, src, nbytes) \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 0)
#define AM_ReplyXfer1(token, off, h, src, nbytes, a0) \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 1, AM2_W(a0))
#define AM_ReplyXfer2(token, off, h, src, nbytes, a0, a1) \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 2, AM2_W(a0), AM2_W(a1))
#define AM_ReplyXfer3(token, off, h, src, nbytes, a0, a1, a2) \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 3, AM2_W(a0), AM2_W(a1), AM2_W(a2))
#define AM_ReplyXfer4(token, off, h, src, nbytes, a0, a1, a2, a3)                                         \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 4, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3))
#define AM_ReplyXfer5(token, off, h, src, nbytes, a0, a1, a2, a3, a4)                                     \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 5, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4))
#define AM_ReplyXfer6(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5)                                 \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 6, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_ReplyXfer7(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6)                             \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 7, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_ReplyXfer8(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                         \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 8, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_ReplyXfer9(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)                     \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 9, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_ReplyXfer10(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)                 \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 10, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9))
#define AM_ReplyXfer11(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)            \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 11, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10))
#define AM_ReplyXfer12(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)       \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 12, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10),  \
                 AM2_W(a11))
#define AM_ReplyXfer13(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)  \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 13, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10),  \
                 AM2_W(a11), AM2_W(a12))
#define AM_ReplyXfer14(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,  \
                       a13)                                                                                \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 14, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10),  \
                 AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_ReplyXfer15(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,  \
                       a13, a14)                                                                           \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 15, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10),  \
                 AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_ReplyXfer16(token, off, h, src, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,  \
                       a13, a14, a15)                                                                      \
  am2_reply_xfer((token), (unsigned long)(off), (h), (src), (nbytes), 16, AM2_W(a0), AM2_W(a1), AM2_W(a2), \
                 AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8), AM2_W(a9), AM2_W(a10),  \
                 AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))
#define AM_ReplyLong0 AM_ReplyXfer0
#define AM_ReplyLong1 AM_ReplyXfer1
#define AM_ReplyLong2 AM_ReplyXfer2
#define AM_ReplyLong3 AM_ReplyXfer3
#define AM_ReplyLong4 AM_ReplyXfer4
#define AM_ReplyLong5 AM_ReplyXfer5
#define AM_ReplyLong6 AM_ReplyXfer6
#define AM_ReplyLong7 AM_ReplyXfer7
#define AM_ReplyLong8 AM_ReplyXfer8
#define AM_ReplyLong9 AM_ReplyXfer9
#define AM_ReplyLong10 AM_ReplyXfer10
#define AM_ReplyLong11 AM_ReplyXfer11
#define AM_ReplyLong12 AM_ReplyXfer12
#define AM_ReplyLong13 AM_ReplyXfer13
#define AM_ReplyLong14 AM_ReplyXfer14
#define AM_ReplyLong15 AM_ReplyXfer15
#define AM_ReplyLong16 AM_ReplyXfer16

#define AM_GetXfer0(ep, dest, from, h, to, nbytes) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 0)
#define AM_GetXfer1(ep, dest, from, h, to, nbytes, a0) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 1, AM2_W(a0))
#define AM_GetXfer2(ep, dest, from, h, to, nbytes, a0, a1)                                               \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 2, AM2_W(a0), \
               AM2_W(a1))
#define AM_GetXfer3(ep, dest, from, h, to, nbytes, a0, a1, a2)                                           \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 3, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2))
#define AM_GetXfer4(ep, dest, from, h, to, nbytes, a0, a1, a2, a3)                                       \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 4, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_GetXfer5(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4)                                   \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 5, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_GetXfer6(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5)                               \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 6, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_GetXfer7(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6)                           \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 7, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_GetXfer8(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                       \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 8, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_GetXfer9(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)                   \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 9, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_GetXfer10(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)               \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 10, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),    \
               AM2_W(a9))
#define AM_GetXfer11(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)          \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 11, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),    \
               AM2_W(a9), AM2_W(a10))
#define AM_GetXfer12(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)     \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 12, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),    \
               AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_GetXfer13(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 13, AM2_W(a0),  \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),     \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_GetXfer14(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, \
                     a13)                                                                                  \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 14, AM2_W(a0),  \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),     \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_GetXfer15(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, \
                     a13, a14)                                                                             \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 15, AM2_W(a0),  \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),     \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_GetXfer16(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, \
                     a13, a14, a15)                                                                        \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 0, 16, AM2_W(a0),  \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),     \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))

#define AM_GetXferAsynch0(ep, dest, from, h, to, nbytes) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 0)
#define AM_GetXferAsynch1(ep, dest, from, h, to, nbytes, a0) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 1, AM2_W(a0))
#define AM_GetXferAsynch2(ep, dest, from, h, to, nbytes, a0, a1)                                         \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 2, AM2_W(a0), \
               AM2_W(a1))
#define AM_GetXferAsynch3(ep, dest, from, h, to, nbytes, a0, a1, a2)                                     \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 3, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2))
#define AM_GetXferAsynch4(ep, dest, from, h, to, nbytes, a0, a1, a2, a3)                                 \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 4, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3))
#define AM_GetXferAsynch5(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4)                             \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 5, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4))
#define AM_GetXferAsynch6(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5)                         \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 6, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5))
#define AM_GetXferAsynch7(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6)                     \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 7, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6))
#define AM_GetXferAsynch8(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7)                 \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 8, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7))
#define AM_GetXferAsynch9(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8)             \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 9, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8))
#define AM_GetXferAsynch10(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)         \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 10, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),    \
               AM2_W(a9))
#define AM_GetXferAsynch11(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)    \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 11, AM2_W(a0), \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),    \
               AM2_W(a9), AM2_W(a10))
#define AM_GetXferAsynch12(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 12, AM2_W(a0),   \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),      \
               AM2_W(a9), AM2_W(a10), AM2_W(a11))
#define AM_GetXferAsynch13(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, \
                           a12)                                                                             \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 13, AM2_W(a0),   \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),      \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12))
#define AM_GetXferAsynch14(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, \
                           a12, a13)                                                                        \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 14, AM2_W(a0),   \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),      \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13))
#define AM_GetXferAsynch15(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, \
                           a12, a13, a14)                                                                   \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 15, AM2_W(a0),   \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),      \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14))
#define AM_GetXferAsynch16(ep, dest, from, h, to, nbytes, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, \
                           a12, a13, a14, a15)                                                              \
  am2_get_xfer((ep), (dest), (unsigned long)(from), (h), (unsigned long)(to), (nbytes), 1, 16, AM2_W(a0),   \
               AM2_W(a1), AM2_W(a2), AM2_W(a3), AM2_W(a4), AM2_W(a5), AM2_W(a6), AM2_W(a7), AM2_W(a8),      \
               AM2_W(a9), AM2_W(a10), AM2_W(a11), AM2_W(a12), AM2_W(a13), AM2_W(a14), AM2_W(a15))

/* NOLINTEND(modernize-*) */

#endif
