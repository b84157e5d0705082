# SPDX-License-Identifier: MIT
# How `openpla serve` and `openpla live` get TLS and bcrypt (DECISIONS 177). Values of OPENPLA_TLS:
#   LOADED  GnuTLS and crypt(3) are loaded at run time if a configuration file needs them (native builds)
#   BUILT   the library openpla_tls, built from Debian's sources of Mbed TLS and libxcrypt (Windows and static builds)
#   OFF     neither is available (on Windows build hosts, where cmake/fetch-sources.sh cannot run, unless the sources
# exist)
set(OPENPLA_TLS AUTO CACHE STRING "LOADED, BUILT, OFF, or AUTO")
set_property(CACHE OPENPLA_TLS PROPERTY STRINGS AUTO LOADED BUILT OFF)
set(openpla_tls ${OPENPLA_TLS})
if(openpla_tls STREQUAL AUTO)
  if(CMAKE_HOST_WIN32 AND NOT EXISTS ${OPENPLA_SOURCES_DIR}/mbedtls)
    set(openpla_tls OFF)
  elseif(WIN32 OR OPENPLA_STATIC)
    set(openpla_tls BUILT)
  else()
    set(openpla_tls LOADED)
  endif()
endif()
message(STATUS "TLS and bcrypt: ${openpla_tls}")
if(openpla_tls STREQUAL BUILT)
  if(NOT (EXISTS ${OPENPLA_SOURCES_DIR}/mbedtls AND EXISTS ${OPENPLA_SOURCES_DIR}/libxcrypt))
    _fetch(mbedtls libxcrypt)
  endif()
  set(_mbedtls ${OPENPLA_SOURCES_DIR}/mbedtls)
  set(_bundled ${CMAKE_SOURCE_DIR}/cli/http/bundled)
  set(_files)
  foreach(name aes aesni asn1parse asn1write base64 bignum bignum_core bignum_mod bignum_mod_raw block_cipher chacha20
      chachapoly cipher cipher_wrap constant_time ecdh ecdsa ecp ecp_curves error gcm hkdf md oid pem pk pk_ecc pk_wrap
      pkparse platform platform_util poly1305 psa_crypto psa_crypto_aead psa_crypto_cipher psa_crypto_client
      psa_crypto_driver_wrappers_no_static psa_crypto_ecp psa_crypto_hash psa_crypto_mac psa_crypto_random psa_crypto_rsa
      psa_crypto_slot_management psa_util rsa rsa_alt_helpers sha256 sha512 ssl_ciphersuites ssl_msg ssl_tls
      ssl_tls12_server ssl_tls13_generic ssl_tls13_keys ssl_tls13_server threading x509 x509_crt)
    list(APPEND _files ${_mbedtls}/library/${name}.c)
  endforeach()
  # The file is copied, because its own folder has another crypt-port.h, which needs the output of libxcrypt's
  # configure.
  set(_bcrypt ${CMAKE_BINARY_DIR}/_deps/bcrypt)
  foreach(name crypt-bcrypt.c byteorder.h)
    configure_file(${OPENPLA_SOURCES_DIR}/libxcrypt/lib/${name} ${_bcrypt}/${name} COPYONLY)
  endforeach()
  add_library(openpla_tls STATIC ${_files} ${_bcrypt}/crypt-bcrypt.c)
  target_include_directories(openpla_tls SYSTEM PUBLIC ${_mbedtls}/include PRIVATE ${_mbedtls}/library)
  target_include_directories(openpla_tls PUBLIC ${_bundled} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(openpla_tls PUBLIC MBEDTLS_CONFIG_FILE="mbedtls_settings.h")
  target_compile_options(openpla_tls PRIVATE -g0 -fstack-protector-strong
    -ffile-prefix-map=${OPENPLA_SOURCES_DIR}=. $<$<BOOL:${OPENPLA_SANITIZE}>:-fsanitize=address,undefined>)
endif()
